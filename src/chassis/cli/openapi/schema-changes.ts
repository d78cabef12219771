/** A part of an API document. */
export type Node = Readonly<Record<string, unknown>>;

/** Something that clients of the older document would run into. */
export interface BreakingChange {
  /** Where it is, e.g. `GET /api/v1/products 200 data[].price`. */
  readonly where: string;
  readonly what: string;
}

/** What a reference of each document leads to. */
export interface Resolvers {
  readonly older: (node: unknown) => Node;
  readonly newer: (node: unknown) => Node;
}

interface Compared {
  readonly older: unknown;
  readonly newer: unknown;
  readonly resolve: Resolvers;
  /** Whether clients send it; else they read it. */
  readonly sent: boolean;
}

/** Below this depth schemas that refer to themselves are taken for alike. */
const deepest = 8;

/** The object that a value is, or an empty one. */
export function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}

/** The list that a value is, or an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * What clients that send or read what the older schema says would run into with the newer one.
 *
 * @param where what the schemas are of, to which the paths of their fields are added
 * @param seen pairs of references that were compared already; filters refer to themselves in many places
 */
export function schemaChanges(
  where: string,
  compared: Compared,
  depth = 0,
  seen: Set<string> = new Set(),
): BreakingChange[] {
  const { resolve, sent } = compared;
  if (compared.older === undefined || compared.newer === undefined || depth > deepest) return [];
  const references = [compared.older, compared.newer].map((node) => nodeOf(node)['$ref']);
  if (references.every((reference) => reference !== undefined)) {
    const pair = references.join(' ');
    if (seen.has(pair)) return [];
    seen.add(pair);
  }
  const [older, newer] = [resolve.older(compared.older), resolve.newer(compared.newer)];
  const inside = (name: string, from: unknown, to: unknown) =>
    schemaChanges(`${where}${name}`, { ...compared, older: from, newer: to }, depth + 1, seen);
  if (older['anyOf'] !== undefined || newer['anyOf'] !== undefined)
    return [...nullChanges(where, older, newer, sent), ...alternativeChanges(where, compared, inside)];
  if (older['type'] !== undefined && newer['type'] !== undefined && older['type'] !== newer['type'])
    return [{ where, what: `is ${newer['type']} instead of ${older['type']}` }];
  const [fields, now] = [nodeOf(older['properties']), nodeOf(newer['properties'])];
  return [
    ...enumChanges(where, older, newer, sent),
    ...(sent ? boundChanges(where, older, newer) : []),
    ...nullChanges(where, older, newer, sent),
    ...Object.entries(fields).flatMap(([name, field]) =>
      Object.hasOwn(now, name)
        ? inside(`.${name}`, field, now[name])
        : [{ where: `${where}.${name}`, what: 'is gone' }],
    ),
    ...(sent ? newlyRequired(where, older, newer) : noLongerSure(where, older, newer)),
    ...inside('[]', older['items'], newer['items']),
  ];
}

/** Compares each alternative that clients send, or read, with the one of its type. */
function alternativeChanges(
  where: string,
  { older, newer, resolve, sent }: Compared,
  inside: (name: string, from: unknown, to: unknown) => BreakingChange[],
): BreakingChange[] {
  const [before, after] = [alternativesOf(older, resolve.older), alternativesOf(newer, resolve.newer)];
  const [given, taken] = sent ? [before, after] : [after, before];
  return given.flatMap((one, index) => {
    const isSame = ({ type }: { type: unknown }) => type === undefined || type === one.type;
    const other = [...taken.slice(index, index + 1), ...taken].find(isSame);
    if (other) return sent ? inside('', one.node, other.node) : inside('', other.node, one.node);
    return [{ where, what: sent ? `may not be ${one.type} any more` : `may be ${one.type} too` }];
  });
}

function alternativesOf(node: unknown, resolve: (node: unknown) => Node): { node: unknown; type: unknown }[] {
  const { anyOf } = resolve(node);
  if (anyOf === undefined) return [{ node, type: resolve(node)['type'] }];
  return listOf(anyOf).flatMap((one) => alternativesOf(one, resolve));
}

function nullChanges(where: string, older: Node, newer: Node, sent: boolean): BreakingChange[] {
  const [was, is] = [older['nullable'] === true, newer['nullable'] === true];
  if (was === is || was !== sent) return [];
  return [{ where, what: sent ? 'may not be null' : 'may be null' }];
}

function enumChanges(where: string, older: Node, newer: Node, sent: boolean): BreakingChange[] {
  const [old, now] = [listOf(older['enum']), listOf(newer['enum'])];
  if (sent && old.length === 0 && now.length > 0)
    return [{ where, what: `may only be ${now.map((value) => JSON.stringify(value)).join(', ')}` }];
  if (old.length === 0 || now.length === 0) return [];
  const refused = sent ? old.filter((value) => !now.includes(value)) : [];
  const unknown = sent ? [] : now.filter((value) => !old.includes(value));
  return [
    ...refused.map((value) => ({ where, what: `may not be ${JSON.stringify(value)} any more` })),
    ...unknown.map((value) => ({ where, what: `may be ${JSON.stringify(value)} too` })),
  ];
}

/** Bounds of what is sent, by their names, and whether a value is narrower than another. */
const bounds: Readonly<Record<string, (now: number, old: number) => boolean>> = Object.fromEntries(
  ['imum', 'Length', 'Items', 'Properties'].flatMap((of) => [
    [`min${of}`, (now: number, old: number) => now > old],
    [`max${of}`, (now: number, old: number) => now < old],
  ]),
);

/** What was taken and is refused now. */
function boundChanges(where: string, older: Node, newer: Node): BreakingChange[] {
  const narrower = Object.entries(bounds).filter(([name, isNarrower]) => {
    const [old, now] = [older[name], newer[name]];
    return typeof now === 'number' && (typeof old !== 'number' || isNarrower(now, old));
  });
  const others = ['pattern', 'format'].filter((name) => newer[name] !== undefined && newer[name] !== older[name]);
  const isWider = older['format'] === 'int32' && newer['format'] === 'int64';
  return [...narrower.map(([name]) => name), ...others.filter((name) => name !== 'format' || !isWider)].map((name) => ({
    where,
    what: `has ${name} ${newer[name]}${older[name] === undefined ? '' : ` instead of ${older[name]}`}`,
  }));
}

function newlyRequired(where: string, older: Node, newer: Node): BreakingChange[] {
  const old = listOf(older['required']);
  return listOf(newer['required'])
    .filter((name) => !old.includes(name))
    .map((name) => ({ where: `${where}.${name}`, what: 'is required' }));
}

function noLongerSure(where: string, older: Node, newer: Node): BreakingChange[] {
  const now = listOf(newer['required']);
  return listOf(older['required'])
    .filter((name) => !now.includes(name) && Object.hasOwn(nodeOf(newer['properties']), String(name)))
    .map((name) => ({ where: `${where}.${name}`, what: 'may be left out' }));
}
