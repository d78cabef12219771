import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { describe, expect, it } from 'vitest';
import { findSigningKey, publicKeys, signingKeys } from '../../../src/chassis/identity/signing-keys.ts';
import { aSigningKey } from '../../support/signing-key.ts';

const setting = signingKeys('Of a test');
const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength, publicKeyEncoding: pem('spki'), privateKeyEncoding: pem('pkcs8') });
const [p256, p384, ed25519, { privateKey: rsa2048, publicKey }] = [
  aSigningKey('P-256'),
  aSigningKey('P-384'),
  aSigningKey('Ed25519'),
  rsa(2048),
];

function pem<Type extends string>(type: Type) {
  return { type, format: 'pem' } as const;
}

describe('signingKeys', () => {
  it('reads private keys one after the other, and shows their public halves only', async () => {
    const keys = setting.parse(`${p256}\n${p384}${ed25519}\n\n${rsa2048}`) ?? [];
    expect(keys.map(({ algorithm }) => algorithm)).toEqual(['ES256', 'ES384', 'EdDSA', 'RS256']);
    const { keys: shown } = publicKeys(keys);
    expect(shown.map(({ alg, use }) => [alg, use])).toEqual(keys.map(({ algorithm }) => [algorithm, 'sig']));
    for (const jwk of shown) {
      expect(Object.keys(jwk).filter((name) => ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].includes(name))).toEqual([]);
      expect(jwk.kid).toBe(await calculateJwkThumbprint(jwk));
    }
  });

  it('takes line breaks that a variable has as \\n', () => {
    expect(setting.parse(p256.replaceAll('\n', '\\n'))).toHaveLength(1);
  });

  it('finds a key by its id and algorithm, both', () => {
    const keys = setting.parse(p256 + p384) ?? [];
    const [{ id = '' } = {}, other] = keys;
    expect(findSigningKey(keys, { alg: 'ES256', kid: id })).toBe(keys[0]?.publicKey);
    for (const header of [{ alg: 'ES384', kid: id }, { alg: 'ES256', kid: other?.id ?? '' }, { alg: 'ES256' }]) {
      expect(() => findSigningKey(keys, header)).toThrow('names none of the keys');
    }
  });

  it.each([
    ['no key', 'a secret'],
    ['a public key', publicKey],
    ['a key that is too short', rsa(1024).privateKey],
    ['a key of another curve', generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export(pem('pkcs8'))],
    ['a key for encryption', generateKeyPairSync('x25519').privateKey.export(pem('pkcs8'))],
    ['the same key twice', p256 + p256],
    ['a key that is cut off', p256 + p384.slice(0, 80)],
  ])('refuses %s without repeating it', (_what, text) => {
    const { error } = setting.safeParse(String(text));
    expect(error?.issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^expected private keys in PEM/),
    ]);
  });
});
