/** A part of an API document. */
type Node = Readonly<Record<string, unknown>>;

/** Something that clients of the older document would run into. */
export interface BreakingChange {
  /** Where it is, e.g. `GET /api/v1/products 200 data[].price`. */
  readonly where: string;
  readonly what: string;
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * What a client of the older document would run into with the newer one: operations, answers or fields of answers that
 * are gone or of another type, and what requests must now have or may no longer have. What is only added breaks nobody.
 */
export function breakingChanges(older: Node, newer: Node): BreakingChange[] {
  const resolve = { older: resolver(older), newer: resolver(newer) };
  return Object.entries(nodeOf(older['paths'])).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const before = nodeOf(item)[method];
      if (before === undefined) return [];
      const after = nodeOf(nodeOf(newer['paths'])[path])[method];
      const where = `${method.toUpperCase()} ${path}`;
      if (after === undefined) return [{ where, what: 'is gone' }];
      return [
        ...parameterChanges(where, nodeOf(before), nodeOf(after), resolve),
        ...bodyChanges(where, nodeOf(before), nodeOf(after), resolve),
        ...answerChanges(where, nodeOf(before), nodeOf(after), resolve),
      ];
    }),
  );
}

interface Resolvers {
  readonly older: (node: unknown) => Node;
  readonly newer: (node: unknown) => Node;
}

/** Follows references into the components of a document, and takes all parts of an `allOf` together. */
function resolver(document: Node): (node: unknown) => Node {
  const resolve = (node: unknown): Node => {
    let found = nodeOf(node);
    while (typeof found['$ref'] === 'string') {
      const steps = found['$ref'].replace(/^#\//, '').split('/');
      found = nodeOf(steps.reduce<unknown>((at, step) => nodeOf(at)[step.replaceAll('~1', '/')], document));
    }
    const parts = listOf(found['allOf']).map(resolve);
    return parts.length === 0 ? found : [...parts, found].reduce(together);
  };
  return resolve;
}

function together(one: Node, other: Node): Node {
  const properties = { ...nodeOf(one['properties']), ...nodeOf(other['properties']) };
  return { ...one, ...other, properties, required: [...listOf(one['required']), ...listOf(other['required'])] };
}

function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function parameterChanges(where: string, before: Node, after: Node, resolve: Resolvers): BreakingChange[] {
  const key = (parameter: Node) => `${parameter['in']} parameter ${parameter['name']}`;
  const old = new Map(listOf(before['parameters']).map((one) => [key(resolve.older(one)), resolve.older(one)]));
  const now = new Map(listOf(after['parameters']).map((one) => [key(resolve.newer(one)), resolve.newer(one)]));
  const gone = [...old.keys()]
    .filter((name) => !now.has(name))
    .map((name) => ({ where, what: `takes no ${name} any more` }));
  const needed = [...now].flatMap(([name, parameter]) =>
    parameter['required'] === true && old.get(name)?.['required'] !== true
      ? [{ where, what: `needs the ${name}` }]
      : [],
  );
  return [...gone, ...needed];
}

function schemaOf(message: Node): unknown {
  return nodeOf(nodeOf(message['content'])['application/json'])['schema'];
}

function bodyChanges(where: string, before: Node, after: Node, resolve: Resolvers): BreakingChange[] {
  const [old, now] = [resolve.older(before['requestBody']), resolve.newer(after['requestBody'])];
  const place = `${where} body`;
  return schemaChanges(place, { older: schemaOf(old), newer: schemaOf(now), resolve, sent: true });
}

function answerChanges(where: string, before: Node, after: Node, resolve: Resolvers): BreakingChange[] {
  return Object.entries(nodeOf(before['responses'])).flatMap(([status, answer]) => {
    if (!status.startsWith('2')) return [];
    const now = nodeOf(after['responses'])[status];
    if (now === undefined) return [{ where, what: `does not answer ${status} any more` }];
    const schemas = { older: schemaOf(resolve.older(answer)), newer: schemaOf(resolve.newer(now)) };
    return schemaChanges(`${where} ${status}`, { ...schemas, resolve, sent: false });
  });
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

function schemaChanges(where: string, compared: Compared, depth = 0): BreakingChange[] {
  const { resolve, sent } = compared;
  if (compared.older === undefined || compared.newer === undefined || depth > deepest) return [];
  const [older, newer] = [resolve.older(compared.older), resolve.newer(compared.newer)];
  if (older['type'] !== undefined && newer['type'] !== undefined && older['type'] !== newer['type'])
    return [{ where, what: `is ${newer['type']} instead of ${older['type']}` }];
  const inside = (name: string, from: unknown, to: unknown) =>
    schemaChanges(`${where}${name}`, { ...compared, older: from, newer: to }, depth + 1);
  const [fields, now] = [nodeOf(older['properties']), nodeOf(newer['properties'])];
  return [
    ...enumChanges(where, older, newer, sent),
    ...(older['nullable'] !== true && newer['nullable'] === true && !sent ? [{ where, what: 'may be null' }] : []),
    ...(older['nullable'] === true && newer['nullable'] !== true && sent ? [{ where, what: 'may not be null' }] : []),
    ...Object.entries(fields).flatMap(([name, field]) =>
      Object.hasOwn(now, name)
        ? inside(`.${name}`, field, now[name])
        : [{ where: `${where}.${name}`, what: 'is gone' }],
    ),
    ...(sent ? newlyRequired(where, older, newer) : noLongerSure(where, older, newer)),
    ...inside('[]', older['items'], newer['items']),
  ];
}

function enumChanges(where: string, older: Node, newer: Node, sent: boolean): BreakingChange[] {
  const [old, now] = [listOf(older['enum']), listOf(newer['enum'])];
  if (old.length === 0 || now.length === 0) return [];
  const refused = sent ? old.filter((value) => !now.includes(value)) : [];
  const unknown = sent ? [] : now.filter((value) => !old.includes(value));
  return [
    ...refused.map((value) => ({ where, what: `may not be ${JSON.stringify(value)} any more` })),
    ...unknown.map((value) => ({ where, what: `may be ${JSON.stringify(value)} too` })),
  ];
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
