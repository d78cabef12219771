import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet, JWK, JWSHeaderParameters } from 'jose';
import { z } from 'zod';

/** A private key, and how tokens name it. */
export interface SigningKey {
  readonly algorithm: string;
  /** The SHA-256 thumbprint of the public key (RFC 7638). */
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as the JWKS document shows it. */
  readonly jwk: JWK;
}

const curves: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
};
const wanted =
  'expected private keys in PEM one after the other: EC P-256, P-384 or P-521, Ed25519, or RSA of at least 2,048 bits';

/**
 * A setting with private keys that sign tokens, in PEM one after the other. The first one signs, all of them verify: a new
 * key is added behind, moved to the front once everybody who verifies has seen it, and the old one left out once its last
 * token has expired.
 *
 * @param description what they are for, for the table of settings
 */
export function signingKeys(description: string) {
  return z
    .string()
    .transform((text, issues) => {
      const keys = readKeys(text);
      if (keys) return keys;
      issues.addIssue({ code: 'custom', message: wanted });
      return z.NEVER;
    })
    .optional()
    .describe(description)
    .meta({ secret: true });
}

/** The JWKS document of these keys (RFC 7517): their public halves. */
export function publicKeys(keys: readonly SigningKey[]): JSONWebKeySet {
  return { keys: keys.map(({ jwk }) => jwk) };
}

/** The key that a token names. @throws Error when it is none of these */
export function findSigningKey(keys: readonly SigningKey[], { alg, kid }: JWSHeaderParameters): KeyObject {
  const found = keys.find(({ algorithm, id }) => algorithm === alg && id === kid);
  if (found) return found.publicKey;
  throw new Error('the token names none of the keys');
}

function readKeys(text: string): SigningKey[] | undefined {
  const blocks = text.replaceAll('\\n', '\n').match(/-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g) ?? [];
  try {
    const keys = blocks.map(signingKey);
    const isWhole =
      text.split('-----BEGIN').length - 1 === blocks.length && new Set(keys.map(({ id }) => id)).size === keys.length;
    return keys.length > 0 && isWhole ? keys : undefined;
  } catch {
    // The message of the setting tells what is wanted; that of the library could repeat the key.
    return undefined;
  }
}

/** @throws TypeError for a key that no token is signed with */
function signingKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  const isStrong = (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
  const algorithm = jwk.kty === 'RSA' && isStrong ? 'RS256' : curves[jwk.crv ?? ''];
  if (algorithm === undefined) throw new TypeError(wanted);
  const id = hash('sha256', thumbprintOf(jwk), 'base64url');
  return { algorithm, id, privateKey, publicKey, jwk: { ...jwk, kid: id, alg: algorithm, use: 'sig' } };
}

/** Required members in the order of their names (RFC 7638, 3.2). */
function thumbprintOf({ crv, e, kty, n, x, y }: JWK): string {
  return JSON.stringify({ crv, e, kty, n, x, y });
}
