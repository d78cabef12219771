/** Statements that one process names; the server parses further ones at each call. */
const mostNamed = 1000;
/**
 * Characters of all of them, and of one: each connection keeps a named statement in the memory of its server, which takes
 * twenty bytes for each character and more, until the connection ends. To parse a long one is the smaller part of what it costs.
 */
const mostCharacters = 500_000;
const longestNamed = 4000;

/** Names statements, so that the server parses and plans each once per connection; '' leaves one without a name. */
export function statementNames(): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  let characters = 0;
  return ({ sql }) => {
    if (sql.length > longestNamed) return '';
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= mostNamed || characters + sql.length > mostCharacters) return '';
    const name = `s${names.size}`;
    names.set(sql, name);
    characters += sql.length;
    return name;
  };
}
