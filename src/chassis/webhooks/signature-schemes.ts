import { UnauthorizedException } from '../errors/exceptions.ts';

/** What a request says of its signature. */
export interface ClaimedSignature {
  /** What stands in front of the bytes that are signed. */
  prefix: string;
  /** Any of these may be right: while a secret is changed, senders sign with both. */
  signatures: readonly Buffer[];
  /** When it was signed, in seconds since 1970; undefined where the sender says nothing of it. */
  timestamp: number | undefined;
}

/** How a sender writes its signature: with the time in the same header, by Standard Webhooks, or of the body alone. */
export type SignatureScheme = 'timestamped' | 'standard' | 'body';

type HeaderOf = (name: string) => string | undefined;

const mostSignatures = 5;

/** Reads the signature of a request, of HMAC-SHA256. @throws UnauthorizedException when there is none, or it is written otherwise */
export const readSignature: Readonly<
  Record<SignatureScheme, (header: string, headerOf: HeaderOf) => ClaimedSignature>
> = {
  // t=1700000000,v1=5257a8…
  timestamped(header, headerOf) {
    const parts = required(header, headerOf)
      .split(',')
      .map((part) => part.trim().split('='));
    const valuesOf = (wanted: string) => parts.filter(([name]) => name === wanted).map(([, value = '']) => value);
    const timestamp = secondsOf(valuesOf('t')[0]);
    return { prefix: `${timestamp}.`, signatures: bytesOf(valuesOf('v1'), 'hex'), timestamp };
  },
  // webhook-id, webhook-timestamp, and webhook-signature: v1,K5oZfz… v1,…
  standard(header, headerOf) {
    const id = required('webhook-id', headerOf);
    // A point would let what is signed be read as another id, time and body.
    if (id.includes('.')) throw badSignature('webhook-id with a point');
    const timestamp = secondsOf(required('webhook-timestamp', headerOf));
    const texts = required(header, headerOf)
      .split(' ')
      .filter((text) => text.startsWith('v1,'));
    return {
      prefix: `${id}.${timestamp}.`,
      signatures: bytesOf(
        texts.map((text) => text.slice(3)),
        'base64',
      ),
      timestamp,
    };
  },
  // sha256=f7bc83…, or the digits alone, or base64
  body(header, headerOf) {
    const text = required(header, headerOf).replace(/^sha256=/, '');
    return {
      prefix: '',
      signatures: bytesOf([text], /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64'),
      timestamp: undefined,
    };
  },
};

/** What an invalid signature is answered with: not why, which would help who guesses. */
export function badSignature(cause?: string): UnauthorizedException {
  return new UnauthorizedException('The signature is missing or invalid', undefined, { context: { cause } });
}

function required(name: string, headerOf: HeaderOf): string {
  const value = headerOf(name);
  if (value === undefined || value.length > 2_048) throw badSignature(`header ${name} missing or too long`);
  return value;
}

function secondsOf(text: string | undefined): number {
  if (text === undefined || !/^\d{1,12}$/.test(text)) throw badSignature('timestamp missing or no number');
  return Number(text);
}

function bytesOf(texts: readonly string[], encoding: 'hex' | 'base64'): Buffer[] {
  return texts.slice(0, mostSignatures).map((text) => Buffer.from(text, encoding));
}
