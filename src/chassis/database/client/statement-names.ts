/** Statements that one process names, and characters of all and of one: a server keeps twenty bytes for each in each connection. */
const named = { most: 1000, characters: 500_000, longest: 4000 };

/** Names statements, so that the server parses and plans each once per connection; '' leaves one without a name. */
export function statementNames(): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  let characters = 0;
  return ({ sql }) => {
    if (sql.length > named.longest) return '';
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= named.most || characters + sql.length > named.characters) return '';
    const name = `s${names.size}`;
    names.set(sql, name);
    characters += sql.length;
    return name;
  };
}
