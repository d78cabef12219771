import { describe, expect, it } from 'vitest';
import { LogMasks, maskText, redactUrl } from '../../../src/chassis/telemetry/redact.ts';

const masks = new LogMasks();
const token = 'aB3-_'.repeat(17);

describe('names of secrets', () => {
  it.each([
    ...['cvc', 'cvc2', 'cvv', 'accountKey', 'activation_key', 'passkey', 'recovery-key', 'resetKey', 'PHPSESSID'],
    ...['csrf', 'X-XSRF-Token', 'csrf_value', 'hmac', 'request_hmac', 'pkce'],
    ...['creditCard', 'credit_card', 'recovery key', 'subscription-key', 'samlResponse', 'saml_response', 'SAMLart'],
  ])('have the field and the parameter %s masked', (name) => {
    expect([masks.hasField(name), masks.hasParameter(name)]).toEqual([true, true]);
  });

  it.each([
    ...['csc', 'pat', 'verifier', 'invite', 'wresult', 'magic_link', 'magic link', 'x-functions-key', 'ticket'],
    ...['state', 'nonce', 'magic', 'saml'],
  ])('have the parameter %s masked, and not the field', (name) => {
    expect([masks.hasField(name), masks.hasParameter(name)]).toEqual([false, true]);
  });

  it.each([
    ...['recvCount', 'cvCount', 'bypassKey', 'compassKey', 'resetKeyboard', 'activationKeyword', 'accountKeys'],
    ...['magicLinkEnabled', 'assessId', 'inviteId', 'publicKey', 'path', 'idempotencyKey'],
    ...['stateName', 'announce', 'magicNumber'],
  ])('are not found in %s', (name) => {
    expect([masks.hasField(name), masks.hasParameter(name)]).toEqual([false, false]);
  });
});

describe('parameters of a URL', () => {
  it('bear a secret under a name of two words, and cookies', () => {
    const names = ['recovery+key', 'magic%20link', 'cookie', 'cookies', 'creditCard'];
    expect(names.map((name) => redactUrl(`/v?${name}=abc`))).toEqual(names.map((name) => `/v?${name}=[redacted]`));
  });
});

describe('what looks like a refresh token', () => {
  it.each([token, `rt_${token}x`, `refresh_token_${token}x-attempt-2`, `${token}x`, token.slice(0, 80)])(
    'is masked, whole, with words around it or without its end: %s',
    (text) => {
      expect([redactUrl(`/v/${text}`), redactUrl(text), maskText(text)]).toEqual([
        '/v/[redacted]',
        ...Array(2).fill('[redacted]'),
      ]);
    },
  );

  it.each([
    ['a short one', token.slice(0, 75)],
    ['the name of an article', `${'how-to-build-a-house-'.repeat(4)}x`],
    ['a hash', '0f'.repeat(48)],
    ['a longer hash', '0f'.repeat(64)],
    ['a line of dashes', '-'.repeat(86)],
  ])('is not %s', (_what, text) => {
    expect([redactUrl(`/v/${text}`), maskText(text)]).toEqual([`/v/${text}`, text]);
  });

  it.each(['7a'.repeat(52), `key-${'7a'.repeat(52)}`])('is masked as an API key without its prefix is: %s', (text) => {
    expect([redactUrl(`/v/${text}`), maskText(`with ${text}`)].join()).not.toContain('7a7a');
  });

  it.each(['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', 'access_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc'])(
    'is masked as a JSON Web Token is, with a word in front too: %s',
    (text) => {
      expect([redactUrl(`/v/${text}`), redactUrl(`/v?t=${text}`), maskText(text)]).toEqual([
        '/v/[redacted]',
        '/v?t=[redacted]',
        '[redacted]',
      ]);
    },
  );

  it.each(['Invalid invite: expired', 'Written by Pat: hello', 'the verifier: failed'])('is not in "%s"', (text) => {
    expect(maskText(text)).toBe(text);
  });
});
