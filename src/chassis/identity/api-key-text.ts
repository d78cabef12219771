import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A new API key: what its owner is shown once, and what is stored of it. */
export interface NewApiKey {
  /** Of the key, as a UUID; no secret. */
  readonly id: string;
  /** `<prefix>_` and 104 hexadecimal digits: id, 256 random bits and a checksum. */
  readonly key: string;
  readonly hash: string;
}

const idDigits = 32;
const secretBytes = 32;
const checkDigits = 8;

/** Makes a key. @param prefix by which scanners for secrets find it */
export function newApiKey(prefix: string): NewApiKey {
  const id = randomBytes(idDigits / 2);
  // A UUID of version 4 (RFC 9562), which a column of that type takes.
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x40;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  const content = id.toString('hex') + randomBytes(secretBytes).toString('hex');
  const key = `${prefix}_${content}${checksum(content)}`;
  return { id: uuidOf(content), key, hash: hashApiKey(key) };
}

/** The id of a key; undefined for a text that is none, which needs no look into the database. */
export function idOfApiKey(prefix: string, text: string): string | undefined {
  const start = prefix.length + 1;
  const content = text.slice(start, start + idDigits + 2 * secretBytes);
  const isKey = /^[0-9a-f]{96}$/.test(content) && text === `${prefix}_${content}${checksum(content)}`;
  return isKey ? uuidOf(content) : undefined;
}

/** What is stored of a key: its SHA-256. A slow hash protects secrets that can be guessed, which 256 random bits cannot. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'base64url');
}

function checksum(content: string): string {
  return crc32(content).toString(16).padStart(checkDigits, '0');
}

function uuidOf(content: string): string {
  return content.slice(0, idDigits).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
