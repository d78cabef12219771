import { createHash } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { currentService } from '../context/current-service.ts';
import { rightsOf } from '../context/principal.ts';
import { callerKey, chargeRequest, currentPrincipal } from '../context/request-context.ts';
import { currentUnit } from '../database/client/current-work.ts';
import { type UnitOfWorkOptions, unitOfWork } from '../database/work/unit-of-work.ts';
import { BadRequestException, UnsupportedMediaTypeException } from '../errors/exceptions.ts';
import { payForRecords } from '../http/bodies/parse-body.ts';
import { hasBody, mediaType, readingOf } from '../http/bodies/request-body.ts';
import { requestContextOf } from '../http/pipeline/request-context-of.ts';
import { routeTemplate } from '../http/pipeline/request-pipeline.ts';
import { handlersBehind } from '../http/pipeline/routes-of.ts';
import { documented } from '../openapi/documented.ts';
import { captureAnswer, replayStored, sendCaptured, storedForm } from './captured-answer.ts';
import { IdempotencyKeys, type KeyedRequest, type TakenKey } from './idempotency-keys.ts';
import { StorageQuota } from './storage-quota.ts';

/** How long keys and answers count. */
export interface IdempotencyOptions {
  /** How long an answer is kept, in hours. Default 24. */
  keepHours?: number;
  /** Whether a request without the header is a 400. Default false: it runs as if the step were not there. */
  required?: boolean;
  /** How long a request waits for another one with its key before it is a 409, in milliseconds. Default 5,000. */
  waitMs?: number;
  /** How long a key stays taken whose process died, in seconds; longer than any request. Default: REQUEST_TIMEOUT_MS and 10 s. */
  lockSeconds?: number;
  /**
   * The unit of work that the handlers run in, so that what they write and the answer are stored together or not at all.
   * `false` for handlers that call other services, which must hold no transaction: the answer is then stored after them.
   */
  unitOfWork?: UnitOfWorkOptions | false;
  /**
   * What the keys and answers of one caller may take in an hour, in kilobytes; each key takes one at least. Beyond it new
   * keys are a 429. Default 10,000. Counted as rate limits are, and not at all without them.
   */
  hourlyKilobytes?: number;
}

interface CallersRequest extends KeyedRequest {
  /** A hash of what an answer to the caller depends on. */
  readonly rights: string;
}

const header = 'Idempotency-Key';
const validKey = /^[\x21-\x7e]{1,255}$/;
/** Callers of one address share their keys where nobody says who they are: theirs must not be guessed by each other. */
const leastAnonymousLength = 16;
const mostBytes = 1_048_576;
/** What a key costs, in units of `chargeRequest`: it is stored before the work, and the answer with it. */
const costOfKey = 30;
const mark = Symbol('idempotent step');

/**
 * A step, behind the guards of a route, for requests that must have their effect once however often they come
 * (draft-ietf-httpapi-idempotency-key-header). With an `Idempotency-Key` the first request runs, and its answer is stored
 * when it succeeds; the same request of the same caller gets that answer again, with `Idempotent-Replayed: true`, or 403
 * where the caller has other rights by now. One that failed has stored nothing and may be sent again. To be called where
 * routes are defined, not at import.
 *
 * Requests with the key answer 422 where path or body are others, 409 while the first one is still in progress, and 429
 * beyond the caller's quota. A key is charged with 30 units.
 *
 * @throws Error without a database, or when prisma/models.prisma lacks the model `IdempotencyKey`
 */
export function idempotent(options: IdempotencyOptions = {}): RequestHandler {
  const { required = false, unitOfWork: unit = {}, hourlyKilobytes = 10_000 } = options;
  const keys = openKeys(options);
  const { logger } = currentService();
  const quota = new StorageQuota(hourlyKilobytes, currentService().rateLimits);

  async function runOnce(req: Request, res: Response, next: NextFunction): Promise<void> {
    const request = keyedRequest(req, required);
    if (!request) return next();
    // A refusal for what this costs must come before the key is stored and a unit of work begins.
    chargeRequest(costOfKey);
    payForRecords(req.body);
    const taken = await keys.take(request);
    if (typeof taken === 'string') return replayStored(res, taken, request.rights);
    const releaseFailed = async (error: unknown): Promise<never> => {
      await keys.release(taken).catch((failure: unknown) => warn('releasing an idempotency key failed', failure));
      throw error;
    };
    const answering = answerOnce(taken, request, req, res).catch(releaseFailed);
    const answer = await answering.finally(() => taken.leave());
    if (answer) sendCaptured(res, answer);
    // Behind this step there is nothing left but what has run.
    else next('route');
    await keys.removeExpired().catch((failure: unknown) => warn('removing expired idempotency keys failed', failure));
  }

  async function answerOnce(taken: TakenKey, { caller, rights }: CallersRequest, req: Request, res: Response) {
    await quota.begin(caller);
    const handlers = handlersBehind(req, (handler) => (handler as { [mark]?: unknown })[mark] === step);
    const work = async () => {
      const answer = await captureAnswer(res, { context: requestContextOf(req), mostBytes }, (next) =>
        handlers(req, res, next),
      );
      if (!answer || answer.status >= 400) {
        await keys.release(taken);
        return answer;
      }
      const stored = storedForm(answer, rights);
      await keys.complete(taken, stored);
      await quota.stored(caller, stored.length);
      return answer;
    };
    return unit === false ? work() : unitOfWork(work, unit);
  }

  function warn(message: string, err: unknown): void {
    logger.warn({ err }, message);
  }

  const step = documented(runOnce as RequestHandler, {
    statuses: [403, 409, 422, 429],
    parameters: [keyParameter(required)],
  });
  return Object.assign(step, { [mark]: step });
}

/** The header in the description of the API. */
function keyParameter(required: boolean) {
  return {
    ...{ name: header, in: 'header', required, schema: { type: 'string', maxLength: 255 } },
    description: 'The same request with the same key gets the answer of the first one, and has its effect once',
  };
}

function openKeys({ keepHours = 24, waitMs = 5_000, lockSeconds }: IdempotencyOptions): IdempotencyKeys {
  const { database, settings } = currentService();
  const lockMs = lockSeconds === undefined ? settings.REQUEST_TIMEOUT_MS + 10_000 : lockSeconds * 1000;
  if (!(keepHours > 0 && waitMs >= 0 && lockMs > 0)) {
    const found = JSON.stringify({ keepHours, waitMs, lockSeconds });
    throw new Error(`Expected of idempotent() keepHours and lockSeconds above 0 and waitMs from 0, found ${found}.`);
  }
  if (!database.isOpen || !('idempotencyKey' in database.client)) {
    throw new Error(
      'Expected a database with the model IdempotencyKey, in which idempotent() keeps its keys, found none; ' +
        'copy the model from the chassis into prisma/models.prisma and create a migration.',
    );
  }
  const client = () => currentUnit(database.client)?.transaction ?? database.client;
  return new IdempotencyKeys(client, { keepMs: keepHours * 3_600_000, lockMs, waitMs });
}

/** Which request this is; undefined without a key. */
function keyedRequest(req: Request, required: boolean): CallersRequest | undefined {
  const key = req.get(header);
  if (key === undefined) {
    if (required) throw new BadRequestException(`Expected the header ${header}, found none`);
    return undefined;
  }
  refuseInvalid(key);
  if (hasBody(req) && readingOf(mediaType(req)) === undefined) {
    throw new UnsupportedMediaTypeException(`Expected with ${header} a body of JSON or a form, found another type`);
  }
  const context = requestContextOf(req);
  const caller = JSON.stringify([currentPrincipal()?.tenantId ?? '', callerKey(context)]);
  return {
    id: hash(caller, `${req.method} ${routeTemplate(req)}`, key),
    fingerprint: hash(req.originalUrl, JSON.stringify(req.body ?? null)),
    caller,
    rights: hash(rightsOf(currentPrincipal())),
  };
}

function refuseInvalid(key: string): void {
  if (!validKey.test(key)) throw new BadRequestException(`Expected of ${header} 1 to 255 printable characters`);
  if (currentPrincipal() !== undefined || key.length >= leastAnonymousLength) return;
  throw new BadRequestException(
    `Expected of ${header} without a login at least ${leastAnonymousLength} characters, such as a UUID`,
  );
}

function hash(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
