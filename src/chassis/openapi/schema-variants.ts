import { isJson, type Json } from './deep-merge.ts';
import { referencedComponent, type SchemaComponents, schemaReference } from './schema-components.ts';

type Direction = 'input' | 'output';

/** Parts of a document that a client sends; all others it receives. */
const sent = new Set(['requestBody', 'requestBodies', 'parameters']);

/**
 * Puts the component schemas that a document uses into it; others may be of another service of the process. A schema that differs between what is sent and what is received is taken
 * as it is used; used both ways, it stands there twice, with `Input` after the name of the one that is sent.
 *
 * @param document all but the schemas made of zod; its references name schemas by their ids
 * @returns the document with its schemas, and the references that lead nowhere
 */
export function placeSchemas(document: Json, components: SchemaComponents): { document: Json; lost: string[] } {
  const others = schemasOf(document);
  const used = usedDirections(document, components, others);
  const differing = differingSchemas(components);
  const taken = new Set([...Object.keys(others), ...Object.keys(components.output)]);
  const nameOf = (id: string, direction: Direction): string => {
    if (direction === 'output' || !differing.has(id) || !used.has(`output ${id}`)) return id;
    let name = `${id}Input`;
    while (taken.has(name)) name += 'Input';
    return name;
  };
  const rename = (part: unknown, direction: Direction): unknown =>
    mapReferences(part, direction, (id, where) => schemaReference(nameOf(id, where)).$ref);
  const schemas: Json = {};
  for (const id of Object.keys(components.output)) {
    if (used.has(`output ${id}`)) schemas[id] = rename(components.output[id], 'output');
    if (used.has(`input ${id}`)) schemas[nameOf(id, 'input')] ??= rename(components.input[id], 'input');
  }
  const placed = rename(document, 'output') as Json;
  const all = { ...schemas, ...schemasOf(placed) };
  const lost = [...used]
    .map((use) => use.replace(/^\w+ /, ''))
    .filter((id) => !(id in components.output || id in others));
  return {
    document: { ...placed, components: { ...(placed['components'] as Json), schemas: sorted(all) } },
    lost: [...new Set(lost)],
  };
}

/** Every schema that is referred to, directly or by another, with its direction: `input Product`. */
function usedDirections(document: Json, components: SchemaComponents, others: Json): Set<string> {
  const used = new Set<string>();
  const visit = (part: unknown, from: Direction): void => {
    mapReferences(part, from, (id, direction, reference) => {
      if (!used.has(`${direction} ${id}`)) {
        used.add(`${direction} ${id}`);
        visit(components[direction][id] ?? others[id], direction);
      }
      return reference;
    });
  };
  visit({ ...document, components: { ...(document['components'] as Json), schemas: {} } }, 'output');
  for (const [id, schema] of Object.entries(others)) if (!used.has(`input ${id}`)) visit(schema, 'output');
  return used;
}

/** Ids of schemas whose two forms differ, themselves or in what they refer to. */
function differingSchemas({ input, output }: SchemaComponents): Set<string> {
  const differing = new Set(
    Object.keys(output).filter((id) => JSON.stringify(input[id]) !== JSON.stringify(output[id])),
  );
  for (let size = -1; size !== differing.size; ) {
    size = differing.size;
    for (const [id, schema] of Object.entries(output)) {
      mapReferences(schema, 'output', (referred, _direction, reference) => {
        if (differing.has(referred)) differing.add(id);
        return reference;
      });
    }
  }
  return differing;
}

type Visit = (id: string, direction: Direction, reference: string) => string;

function mapReferences(part: unknown, direction: Direction, visit: Visit): unknown {
  if (Array.isArray(part)) return part.map((item) => mapReferences(item, direction, visit));
  if (!isJson(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      const id = key === '$ref' ? referencedComponent(value) : undefined;
      if (id !== undefined) return [key, visit(id, direction, value as string)];
      return [key, mapReferences(value, sent.has(key) ? 'input' : direction, visit)];
    }),
  );
}

function schemasOf(document: Json): Json {
  return ((document['components'] as Json | undefined)?.['schemas'] ?? {}) as Json;
}

function sorted(schemas: Json): Json {
  return Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));
}
