import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { currentService } from '../context/current-service.ts';
import { ConflictException } from '../errors/exceptions.ts';
import { onRequestFailure } from '../http/answers/request-failure.ts';
import { rawBody, readingRawBody } from '../http/bodies/raw-bodies.ts';
import { documented } from '../openapi/documented.ts';
import { forgetInTime, openSeenSignatures } from './seen-signatures.ts';
import { badSignature, type ClaimedSignature, readSignature, type SignatureScheme } from './signature-schemes.ts';

/** Who signs the requests of a route, and how. */
export interface SignedByOptions {
  /** The header with the signature. */
  header: string;
  /** The setting with the secrets, one of `signingSecrets` in the module's `*.config.ts`; any of them may have signed. */
  secret: string;
  /**
   * `timestamped` (`t=<seconds>,v1=<hex>` of `<seconds>.<body>`), `standard` (Standard Webhooks: also `webhook-id` and
   * `webhook-timestamp`), or `body` (`sha256=<hex>` or base64 of the body alone, without a time). Default `timestamped`.
   */
  scheme?: SignatureScheme;
  /** How far the time of the signature may be from now, in seconds. Default 300. */
  toleranceSeconds?: number;
}

/** A signature without a time may come again as long as this. */
const rememberedSeconds = 86_400;
const leastKeyBytes = 16;

/**
 * The guard of a webhook: lets requests through whose bytes were signed by HMAC-SHA256 with one of the secrets, within the
 * tolerance, for the first time. The body is parsed only then. To be called where routes are defined, not at import.
 *
 * An invalid signature answers 401, one that was accepted before 409; the request that failed with it may come
 * again. Signatures are remembered in the table of `idempotent`, for all replicas, or in memory where there is none.
 *
 * @throws Error when there is no such setting, or a secret of it gives too short a key
 * @example signedBy({ header: 'X-Signature', secret: 'PAYMENTS_WEBHOOK_SECRET' })
 */
export function signedBy(options: SignedByOptions): RequestHandler {
  const { header, secret, scheme = 'timestamped', toleranceSeconds = 300 } = options;
  const { database, logger, settings } = currentService();
  const keys = keysOf(secret, settings as unknown as Record<string, unknown>, scheme);
  const seen = openSeenSignatures(database, logger);

  async function verifySignature(req: Request, _res: Response, next: NextFunction): Promise<void> {
    const claimed = readSignature[scheme](header, (name) => req.get(name));
    const age = Math.abs(Date.now() / 1000 - (claimed.timestamp ?? Date.now() / 1000));
    if (age > toleranceSeconds) throw badSignature('timestamp beyond the tolerance');
    const body = await rawBody(req);
    if (!isSigned(claimed, keys, body)) throw badSignature('no secret gives it');
    // What was signed, whichever of the secrets signed it: while they change a sender may sign with both.
    const id = createHash('sha256').update(`${header}\n${secret}\n${claimed.prefix}`).update(body).digest('base64url');
    // From the past by the tolerance to the future by it.
    const seconds = claimed.timestamp === undefined ? rememberedSeconds : 2 * toleranceSeconds + 1;
    const receipt = await seen.add(id, seconds * 1000);
    if (!receipt) throw new ConflictException('This request was received before');
    onRequestFailure(req, () => forgetInTime(seen, receipt, logger));
    next();
  }

  const step = documented(verifySignature as RequestHandler, { security: [], statuses: [401, 409] });
  return readingRawBody(step);
}

function keysOf(name: string, settings: Readonly<Record<string, unknown>>, scheme: SignatureScheme): Buffer[] {
  const secrets = [settings[name] ?? []].flat();
  if (secrets.length > 0) return secrets.map((text) => keyOf(String(text), scheme));
  throw new Error(
    `Expected a setting ${name} with the secrets of a webhook, found none; add ${name}: signingSecrets('…') to the module's *.config.ts.`,
  );
}

/** Standard Webhooks write a secret as `whsec_` and base64. @throws Error where that gives fewer bytes than nobody can guess */
function keyOf(text: string, scheme: SignatureScheme): Buffer {
  if (scheme !== 'standard' || !text.startsWith('whsec_')) return Buffer.from(text);
  const key = Buffer.from(text.slice(6), 'base64');
  if (key.length >= leastKeyBytes) return key;
  throw new Error(
    `Expected behind whsec_ of a webhook's secret the base64 of at least ${leastKeyBytes} bytes, found ${key.length}; ` +
      'copy the secret again as the sender shows it.',
  );
}

/** Whether one of the signatures is of one of the secrets; takes the same time wherever they differ. */
function isSigned({ prefix, signatures }: ClaimedSignature, keys: readonly Buffer[], body: Buffer): boolean {
  let found = false;
  for (const key of keys) {
    const digest = createHmac('sha256', key).update(prefix).update(body).digest();
    for (const signature of signatures) {
      if (signature.length === digest.length && timingSafeEqual(signature, digest)) found = true;
    }
  }
  return found;
}
