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

/** Whether the password belongs to the hash, compared in constant time. False for a hash that is none, or beyond bounds. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const parts = stored.exec(hash);
  if (!parts) return false;
  const [m, t, p] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (m > bounds.memory || t > bounds.passes || p > bounds.parallelism || t < 1 || p < 1 || m < 8 * p) return false;
  const nonce = Buffer.from(parts[4] as string, 'base64');
  const expected = Buffer.from(parts[5] as string, 'base64');
  const parameters = {
    message: bytes(password),
    nonce,
    memory: m,
    passes: t,
    parallelism: p,
    tagLength: expected.length,
  };
  return timingSafeEqual(await derive('argon2id', parameters), expected);
}

/** The same text typed on two systems may differ in code points; NFKC makes it one. */
function bytes(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}

function unpadded(value: Buffer): string {
  return value.toString('base64').replace(/=+$/, '');
}
