/** A JSON object, such as a part of an OpenAPI document. */
export type Json = Record<string, unknown>;

/** Whether a value is a JSON object: not null, not an array. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Lays one part of a document over another: objects merge key by key, parameters by name and place, anything else is
 * replaced. A reference is replaced as a whole: nothing may stand beside `$ref`.
 */
export function deepMerge(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isJson(base) || !isJson(over) || '$ref' in base || '$ref' in over) return over;
  const merged: Json = { ...base };
  for (const [key, value] of Object.entries(over)) {
    merged[key] = key === 'parameters' ? mergeParameters(base[key], value) : deepMerge(base[key], value);
  }
  return merged;
}

function mergeParameters(base: unknown, over: unknown): unknown {
  if (!Array.isArray(base) || !Array.isArray(over)) return over;
  const added = over.filter((parameter) => !base.some((own) => isSame(own, parameter)));
  return [
    ...base.map((own) =>
      deepMerge(
        own,
        over.find((parameter) => isSame(own, parameter)),
      ),
    ),
    ...added,
  ];
}

function isSame(one: Json, other: Json): boolean {
  return one['name'] !== undefined && one['name'] === other['name'] && one['in'] === other['in'];
}
