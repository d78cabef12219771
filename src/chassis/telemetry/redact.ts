const secretName = /^cookie$|^set-cookie$|authorization|passw|token|secret|api[-_]?key/i;
const secretParameter =
  /([?&](?:[^=&#]*(?:passw|token|secret|signature|api[-_]?key|authorization|credential)[^=&#]*|code|key|sig|auth)=)[^&#]*/gi;
const maximumDepth = 6;
const known = new Map<string, boolean>();

/** What stands in a log in the place of a secret. */
export const redacted = '[redacted]';

/**
 * The same values with those under a secret's name masked, at any depth to six: authorization, cookies, passwords,
 * tokens, secrets and API keys. Nothing is copied where nothing is masked, and the argument is never changed.
 */
export function redact<T extends object>(values: T): T {
  return redactObject(values as Record<string, unknown>, 0) as T;
}

/** A URL with the values of query parameters that bear a secret's name, and its user and password, masked. */
export function redactUrl(url: string): string {
  const bare = url.startsWith('/') ? url : url.replace(/\/\/[^/@]*@/, `//${redacted}@`);
  return bare.includes('?') ? bare.replace(secretParameter, `$1${redacted}`) : bare;
}

function redactObject(values: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in values) {
    const value = values[name];
    const safe = redactValue(name, value, depth);
    if (safe === value) continue;
    copy ??= { ...values };
    copy[name] = safe;
  }
  return copy ?? values;
}

function redactValue(name: string, value: unknown, depth: number): unknown {
  if (isPlain(value)) return depth < maximumDepth ? redactObject(value, depth + 1) : '[too deep]';
  return value !== undefined && isSecretName(name) ? redacted : value;
}

/** Names of log fields are few, so each is tested once; the bound is for names that clients make up. */
function isSecretName(name: string): boolean {
  let secret = known.get(name);
  if (secret === undefined) {
    secret = secretName.test(name);
    if (known.size < 1_000) known.set(name, secret);
  }
  return secret;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
