import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

// OWASP's smallest recommended setting for argon2id: 19 MiB, 2 passes, 1 lane.
const memory = 19456;
const passes = 2;
const parallelism = 1;
const stored = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** The most that a stored hash may ask for, so that a forged one cannot exhaust the process: 64 MiB, 10 passes, 4 lanes. */
const bounds = { memory: 65536, passes: 10, parallelism: 4 };

/** Takes the place of a hash that is not there: as much work as a real one, and nobody's password. */
const nobody = { nonce: Buffer.alloc(16), expected: Buffer.alloc(32), memory, passes, parallelism };

/** Hashes a password with argon2id and a fresh salt into the PHC string format (about 110 characters). */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const hash = await derive('argon2id', {
    message: bytes(password),
    nonce,
    memory,
    passes,
    parallelism,
    tagLength: 32,
  });
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(hash)}`;
}

/**
 * Whether the password belongs to the hash, compared in constant time. False for a hash that is undefined, no argon2id
 * hash or beyond bounds, after the same work: the time of an answer does not tell whether a user exists.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const { expected, ...parameters } = parse(hash ?? '') ?? nobody;
  const message = bytes(password);
  return timingSafeEqual(await derive('argon2id', { message, ...parameters, tagLength: expected.length }), expected);
}

function parse(hash: string): typeof nobody | undefined {
  const [, m, t, p, salt = '', tag = ''] = stored.exec(hash) ?? [];
  const asked = { memory: Number(m), passes: Number(t), parallelism: Number(p) };
  const fits =
    asked.memory <= bounds.memory && asked.passes <= bounds.passes && asked.parallelism <= bounds.parallelism;
  const works = asked.passes >= 1 && asked.parallelism >= 1 && asked.memory >= 8 * asked.parallelism;
  if (!fits || !works) return undefined;
  return { nonce: Buffer.from(salt, 'base64'), expected: Buffer.from(tag, 'base64'), ...asked };
}

/** The same text typed on two systems may differ in code points; NFKC makes it one. */
function bytes(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}

function unpadded(value: Buffer): string {
  return value.toString('base64').replace(/=+$/, '');
}
