import { Readable } from 'node:stream';
import type {
  $Command,
  S3Client,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/client-s3';
import type { Environment } from '../../config/environment.ts';
import { stopAbandoned } from '../../context/request-context.ts';
import { BaseException, GatewayTimeoutException, ServiceUnavailableException } from '../../errors/exceptions.ts';
import { PeerFailure } from '../../outbound/peer-failure.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { OutboundMetrics } from '../../telemetry/metrics/outbound-metrics.ts';
import type { ByteRange } from '../files/byte-range.ts';
import { noSuchFile } from '../files/file-store.ts';
import { PeerHandler } from './peer-handler.ts';
import { TimeLimit } from './time-limit.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

/** What the client sends, by what it answers. */
type Command<I extends ServiceInputTypes, O extends ServiceOutputTypes> = $Command<
  I,
  O,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

/** What a bucket works with. */
export interface BucketWatch {
  logger: Pick<Logger, 'warn' | 'info'>;
  metrics: OutboundMetrics;
}

/** What is said of a listed object: its key and its size in bytes. */
interface Listed {
  key: string;
  size: number;
}

/** How S3 calls a key that is not there. */
const missing: ReadonlySet<string> = new Set(['NoSuchKey', 'NotFound']);

/** A bucket of S3, or of what speaks its protocol. Nothing is sent before the first call. */
export class Bucket {
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #handler: PeerHandler;
  readonly #name: string;
  readonly #prefix: string;
  readonly #timeoutMs: number;
  readonly #logger: BucketWatch['logger'];

  /** @param settings with UPLOAD_S3_BUCKET */
  constructor(sdk: Sdk, settings: Environment, watch: BucketWatch) {
    const { UPLOAD_S3_BUCKET, UPLOAD_S3_PREFIX, UPLOAD_S3_TIMEOUT_MS } = settings;
    this.#sdk = sdk;
    this.#name = UPLOAD_S3_BUCKET ?? '';
    this.#prefix = UPLOAD_S3_PREFIX;
    this.#timeoutMs = UPLOAD_S3_TIMEOUT_MS;
    this.#logger = watch.logger;
    this.#handler = new PeerHandler('s3', UPLOAD_S3_TIMEOUT_MS, watch);
    const { UPLOAD_S3_REGION: region, UPLOAD_S3_ENDPOINT: endpoint } = settings;
    const { UPLOAD_S3_ACCESS_KEY_ID: accessKeyId, UPLOAD_S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
    this.#client = new sdk.S3Client({
      ...(region !== undefined && { region }),
      ...(endpoint !== undefined && { endpoint }),
      ...(accessKeyId !== undefined &&
        secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
      forcePathStyle: settings.UPLOAD_S3_PATH_STYLE,
      requestHandler: this.#handler,
      logger: silent,
      // Servers that are not Amazon's do not know the checksums that the SDK would add.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  /** Stores what a stream gives, as it comes. @param size of it, in bytes */
  async put(key: string, content: Readable, { size, type }: { size: number; type: string }): Promise<void> {
    const limit = new TimeLimit(this.#timeoutMs);
    const watched = Readable.from(beating(content, limit.beat), { objectMode: false });
    const command = new this.#sdk.PutObjectCommand({
      ...this.#at(key),
      Body: watched,
      ContentLength: size,
      ContentType: type,
    });
    try {
      const { ETag } = await this.#send('put', command, limit);
      // A page that something before the bucket answers with is no sign that the file is stored.
      if (ETag === undefined) throw this.#unusable('put', 'the tag of the file that was stored');
    } finally {
      watched.destroy();
      content.destroy();
    }
  }

  /** The size of an object, in bytes. @throws NotFoundException */
  async sizeOf(key: string): Promise<number> {
    const { ContentLength } = await this.#send('head', new this.#sdk.HeadObjectCommand(this.#at(key)));
    if (ContentLength === undefined) throw this.#unusable('head', 'the length of the file');
    return ContentLength;
  }

  /** The content of an object or of a part of it, and how many bytes that is. @throws NotFoundException */
  async get(key: string, range?: ByteRange): Promise<{ stream: Readable; size: number }> {
    const part = range && { Range: `bytes=${range.start}-${range.end}` };
    const command = new this.#sdk.GetObjectCommand({ ...this.#at(key), ...part });
    const { Body, ContentLength: size } = await this.#send('get', command);
    const stream = Body as Readable;
    if (size !== undefined && (range === undefined || size === range.end - range.start + 1)) return { stream, size };
    // It says so that it was ended before its end.
    stream.on('error', ignore).destroy();
    throw this.#unusable('get', 'the part of the file that was asked for, and its length');
  }

  /** Removes an object; one that is gone already is no error. */
  async remove(key: string): Promise<void> {
    await this.#send('delete', new this.#sdk.DeleteObjectCommand(this.#at(key)));
  }

  /** All objects whose key begins so, a thousand at a time, for as long as the client of a request waits for them. */
  async *list(prefix: string, most = 1000): AsyncGenerator<Listed[], void, undefined> {
    let from: string | undefined;
    do {
      stopAbandoned();
      const command = new this.#sdk.ListObjectsV2Command({
        Bucket: this.#name,
        Prefix: `${this.#prefix}${prefix}`,
        ContinuationToken: from,
        MaxKeys: most,
      });
      const { Contents = [], NextContinuationToken } = await this.#send('list', command);
      yield Contents.map(({ Key = '', Size = 0 }) => ({ key: Key.slice(this.#prefix.length), size: Size }));
      if (from !== undefined && NextContinuationToken === from) throw this.#unusable('list', 'another page');
      from = NextContinuationToken;
    } while (from !== undefined);
  }

  /**
   * Asks the bucket once. One that does not answer is logged, because it may come back.
   *
   * @throws Error where S3 refuses what the settings say
   */
  async check(): Promise<void> {
    try {
      for await (const _ of this.list('', 1)) return;
    } catch (error) {
      const { cause } = error as BaseException;
      const { $metadata: answer } = (cause ?? {}) as { $metadata?: { httpStatusCode?: number } };
      const isAway = cause instanceof PeerFailure || error instanceof GatewayTimeoutException;
      if (isAway || (answer?.httpStatusCode ?? 0) >= 500) {
        return this.#logger.warn({ err: error, bucket: this.#name }, 'store of files is not available');
      }
      const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
      throw new Error(`The bucket ${this.#name} of UPLOAD_S3_BUCKET cannot be used: ${said}`, { cause });
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#client.destroy();
    await this.#handler.close();
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#name, Key: `${this.#prefix}${key}` };
  }

  /** Sends a command, for as long as its time limit says. */
  async #send<I extends ServiceInputTypes, O extends ServiceOutputTypes>(
    operation: string,
    command: Command<I, O>,
    limit = new TimeLimit(this.#timeoutMs),
  ): Promise<O> {
    try {
      return await limit.hold(this.#client.send(command, { abortSignal: limit.signal }));
    } catch (error) {
      throw this.#exceptionOf(error, operation, limit.signal.aborted);
    }
  }

  /** For an answer that S3 would not give, as a proxy or another server may. */
  #unusable(operation: string, wanted: string): BaseException {
    const failure = new Error(`Expected of ${operation} ${wanted}, found none; does a proxy change the answers of S3?`);
    return this.#exceptionOf(failure, operation, false);
  }

  /** What S3 says is for the log: the client of a request cannot change it. */
  #exceptionOf(error: unknown, operation: string, isLate: boolean): BaseException {
    if (error instanceof BaseException) return error;
    if (error instanceof Error && missing.has(error.name)) return noSuchFile(error);
    const reason = error instanceof PeerFailure ? error.reason : (error as Error).name;
    const options = { cause: error, context: { s3: { operation, bucket: this.#name, reason } } };
    if (isLate || reason === 'timeout') {
      return new GatewayTimeoutException('The store of files does not answer', undefined, options);
    }
    const headers = { 'Retry-After': '5' };
    return new ServiceUnavailableException('The store of files is not available', undefined, { ...options, headers });
  }
}

/** What fails is raised, and logged by who answers the request; the SDK would write to the console. */
const silent = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): undefined {
  return undefined;
}

async function* beating(content: Readable, beat: () => void): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of content) {
    beat();
    yield chunk;
  }
}
