/**
 * The text that stands for a read: equal for equal arguments only. Undefined when an argument has no faithful text, so
 * that the read must not be shared.
 */
export function readKey(operation: string, parameters: object): string | undefined {
  try {
    return operation + JSON.stringify(parameters, faithful);
  } catch {
    return undefined;
  }
}

/** Refuses what JSON would make equal to something else: numbers that are none, big integers, objects of a class. */
function faithful(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('not a finite number');
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError('not data');
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('an object of a class');
  return value;
}
