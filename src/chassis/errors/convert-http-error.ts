import { STATUS_CODES } from 'node:http';
import {
  BadRequestException,
  BaseException,
  type ExceptionOptions,
  ForbiddenException,
  NotFoundException,
  PayloadTooLargeException,
  UnauthorizedException,
  UnsupportedMediaTypeException,
} from './exceptions.ts';

/** The fields by which body-parser, multer, send and http-errors tell what happened. */
interface HttpError extends Error {
  status?: unknown;
  statusCode?: unknown;
  expose?: unknown;
  type?: unknown;
  code?: unknown;
  limit?: unknown;
  charset?: unknown;
  encoding?: unknown;
  headers?: unknown;
  field?: unknown;
}

type Conversion = (error: HttpError, options: ExceptionOptions) => BaseException;

const badRequest =
  (message: string): Conversion =>
  (_error, options) =>
    new BadRequestException(message, undefined, options);

const byType: Record<string, Conversion> = {
  'entity.parse.failed': (error, options) =>
    new BadRequestException(`The request body is not valid JSON${position(error)}`, undefined, options),
  'entity.too.large': ({ limit }, options) =>
    new PayloadTooLargeException(`The request body is larger than ${limit} bytes`, undefined, options),
  'charset.unsupported': ({ charset }, options) =>
    new UnsupportedMediaTypeException(
      `Character set ${quote(charset)} is not supported; send UTF-8`,
      undefined,
      options,
    ),
  'encoding.unsupported': ({ encoding }, options) =>
    new UnsupportedMediaTypeException(
      `Content encoding ${quote(encoding)} is not supported; send the body as it is, or as gzip, deflate or br`,
      undefined,
      options,
    ),
  'entity.text.invalid': badRequest('The request body is not valid UTF-8'),
  'request.aborted': badRequest('The request was aborted before its body arrived'),
  'request.size.invalid': badRequest('The request body is not as long as Content-Length says'),
};

const byMulterCode: Record<string, Conversion> = {
  LIMIT_FILE_SIZE: ({ field }, options) =>
    new PayloadTooLargeException(`The file in field ${quote(field)} is too large`, undefined, options),
  LIMIT_UNEXPECTED_FILE: ({ field }, options) =>
    new BadRequestException(`No file is expected in field ${quote(field)}, or not as many`, undefined, options),
};

const byStatus: Record<number, new (message?: string, details?: unknown, options?: ExceptionOptions) => BaseException> =
  {
    400: BadRequestException,
    401: UnauthorizedException,
    403: ForbiddenException,
    404: NotFoundException,
    413: PayloadTooLargeException,
    415: UnsupportedMediaTypeException,
  };

/**
 * The exception for an error that middleware of Express raises about the request: those of body-parser, multer, static
 * files and http-errors with a 4xx status, and malformed percent-encoding. An error that only happens to carry a status,
 * such as one of an HTTP client, is not among them.
 */
export function convertHttpError(error: unknown): BaseException | undefined {
  if (!(error instanceof Error)) return undefined;
  const failure = error as HttpError;
  const options = { cause: error };
  if (failure.name === 'MulterError') return multerException(failure, options);
  if (error instanceof URIError && failure.status === 400) return badRequest(malformedUrl)(failure, options);
  if (typeof failure.expose !== 'boolean' || failure.status !== failure.statusCode) return undefined;
  if (!isClientStatus(failure.status)) return undefined;
  // body-parser attaches the whole body to its errors; it must not travel on into logs and monitors.
  Reflect.deleteProperty(error, 'body');
  const conversion = typeof failure.type === 'string' ? byType[failure.type] : undefined;
  if (conversion) return conversion(failure, options);
  if (isDecompressionError(failure)) return badRequest('The request body cannot be decompressed')(failure, options);
  return exceptionOfStatus(failure.status, failure, options);
}

/** What malformed percent-encoding in a URL is answered with. */
export const malformedUrl = 'The URL holds malformed percent-encoding';

function multerException(error: HttpError, options: ExceptionOptions): BaseException {
  const conversion = typeof error.code === 'string' ? byMulterCode[error.code] : undefined;
  return (conversion ?? badRequest(error.message))(error, options);
}

function exceptionOfStatus(status: number, error: HttpError, options: ExceptionOptions): BaseException {
  // An error of the system, such as ENOENT, on which middleware has put a status: its text holds paths of the server.
  const ownText = error.expose === true && error.code === undefined ? error.message : '';
  const message = ownText || STATUS_CODES[status] || 'Bad Request';
  const withHeaders = isHeaders(error.headers) ? { ...options, headers: error.headers } : options;
  const Exception = byStatus[status];
  return Exception
    ? new Exception(message, undefined, withHeaders)
    : new BaseException(message, status, undefined, withHeaders);
}

/** zlib's own errors, on which body-parser has put a status. */
function isDecompressionError({ code }: HttpError): boolean {
  return typeof code === 'string' && /^(Z_|ERR_|ZSTD_)/.test(code);
}

function isClientStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 499;
}

function isHeaders(headers: unknown): headers is Record<string, string> {
  return typeof headers === 'object' && headers !== null && Object.values(headers).every((v) => typeof v === 'string');
}

/** The parser's own message quotes the body, so only the place is taken from it. */
function position({ message }: Error): string {
  const found = /at position (\d+)/.exec(message);
  return found ? `: unexpected text at position ${found[1]}` : '';
}

/** Text of the client in a message: short and printable. */
function quote(text: unknown): string {
  return JSON.stringify(String(text).slice(0, 100));
}
