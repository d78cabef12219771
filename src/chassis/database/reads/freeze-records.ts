/** Freezes records and what they include, so that callers who share them cannot change them for each other. */
export function freezeRecords<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    for (const item of value) freezeRecords(item);
    return Object.freeze(value);
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const key in value) {
    const field = value[key];
    if (typeof field === 'object' && field !== null) freezeRecords(field);
  }
  return Object.freeze(value);
}
