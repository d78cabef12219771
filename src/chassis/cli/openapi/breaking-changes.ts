import { type BreakingChange, listOf, type Node, nodeOf, type Resolvers, schemaChanges } from './schema-changes.ts';

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * What a client of the older document would run into with the newer one: operations, answers or fields of answers that
 * are gone or of another type, what requests must now have or may no longer have, such as fields of a filter or an order,
 * and credentials that were not needed. What is only added breaks nobody.
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
      const isClosed = !isGuarded(nodeOf(before), older) && isGuarded(nodeOf(after), newer);
      return [
        ...(isClosed ? [{ where, what: 'needs credentials' }] : []),
        ...parameterChanges(where, nodeOf(before), nodeOf(after), resolve),
        ...bodyChanges(where, nodeOf(before), nodeOf(after), resolve),
        ...answerChanges(where, nodeOf(before), nodeOf(after), resolve),
      ];
    }),
  );
}

/** Whether an operation needs credentials; one that takes them and does without has an empty requirement beside the others. */
function isGuarded(operation: Node, document: Node): boolean {
  const security = listOf(operation['security'] ?? document['security']);
  return security.length > 0 && security.every((scheme) => Object.keys(nodeOf(scheme)).length > 0);
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
  const changed = [...old].flatMap(([name, parameter]) => {
    const schemas = { older: parameterSchema(parameter), newer: parameterSchema(now.get(name) ?? {}) };
    return schemaChanges(`${where} ${name}`, { ...schemas, resolve, sent: true });
  });
  return [...gone, ...needed, ...changed];
}

/** Of a parameter that is text, or JSON as those of lists are. */
function parameterSchema(parameter: Node): unknown {
  return parameter['schema'] ?? schemaOf(parameter);
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
