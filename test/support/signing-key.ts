import { generateKeyPairSync } from 'node:crypto';

/** A new private key in PEM, as AUTH_SIGNING_KEYS takes them. */
export function aSigningKey(curve: 'P-256' | 'P-384' | 'Ed25519' = 'P-256'): string {
  const { privateKey } =
    curve === 'Ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: curve });
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}
