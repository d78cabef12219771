import { LightError } from './light-error.ts';

/** What every exception may carry besides its message and details. */
export interface ExceptionOptions {
  /** The underlying error; its stack is chained into the exception's own. */
  cause?: unknown;
  /** Request and operation context; serialized only when present. */
  context?: Record<string, unknown>;
  /** Response headers that belong to the failure, such as `Retry-After` or `Allow`. Never serialized. */
  headers?: Readonly<Record<string, string>>;
  /** False marks an unexpected fault, which monitors report. Default true. */
  isOperational?: boolean;
  /** False leaves the stack out, for a refusal that its message explains. Default true. */
  stack?: boolean;
}

/** The serialized form of an exception (spec.md: Exception record). */
export interface SerializedException {
  name: string;
  message: string;
  statusCode: number;
  timestamp: string;
  details?: unknown;
  context?: Record<string, unknown>;
  isOperational?: false;
}

/**
 * The root of all exceptions that answer a request (spec.md: Exception record).
 * `name` is the class name, `timestamp` the moment of creation, `isOperational` true unless said otherwise.
 */
export class BaseException extends LightError {
  readonly statusCode: number;
  readonly timestamp = new Date();
  readonly details?: unknown;
  readonly isOperational: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  context?: Record<string, unknown>;

  constructor(message: string, statusCode: number, details?: unknown, options: ExceptionOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.statusCode = statusCode;
    this.isOperational = options.isOperational ?? true;
    if (details !== undefined) this.details = details;
    if (options.context !== undefined) this.context = options.context;
    if (options.headers !== undefined) this.headers = options.headers;
    if (options.cause instanceof Error && options.stack !== false) chainStack(this, options.cause);
  }

  /** The serialized form: `context` only when present, `isOperational` only when it is false. */
  toJSON(): SerializedException {
    return {
      name: this.name,
      message: this.message,
      statusCode: this.statusCode,
      timestamp: this.timestamp.toISOString(),
      ...(this.details !== undefined && { details: this.details }),
      ...(this.context !== undefined && { context: this.context }),
      ...(!this.isOperational && { isOperational: false as const }),
    };
  }
}

/** To write a stack costs more than to answer a request, and most are never read: causes are added when one is. */
function chainStack(exception: Error, cause: Error): void {
  const own = Object.getOwnPropertyDescriptor(exception, 'stack');
  const become = (value: unknown) => Object.defineProperty(exception, 'stack', { value, writable: true });
  Object.defineProperty(exception, 'stack', {
    configurable: true,
    get() {
      const frames = own?.get ? own.get.call(exception) : own?.value;
      const text = cause.stack ? `${frames}\nCaused by: ${cause.stack}` : frames;
      become(text);
      return text;
    },
    set: become,
  });
}

/** 400: the request cannot be understood or breaks a rule that the client can see (spec.md: Exception classes). */
export class BadRequestException extends BaseException {
  constructor(message = 'Bad Request', details?: unknown, options?: ExceptionOptions) {
    super(message, 400, details, options);
  }
}

/** 401: missing or invalid credentials (spec.md: Exception classes). */
export class UnauthorizedException extends BaseException {
  constructor(message = 'Unauthorized', details?: unknown, options?: ExceptionOptions) {
    super(message, 401, details, options);
  }
}

/** 403: the caller is known and may not do this (spec.md: Exception classes). */
export class ForbiddenException extends BaseException {
  constructor(message = 'Forbidden', details?: unknown, options?: ExceptionOptions) {
    super(message, 403, details, options);
  }
}

/** 404: no such record or route (spec.md: Exception classes). */
export class NotFoundException extends BaseException {
  constructor(message = 'Not Found', details?: unknown, options?: ExceptionOptions) {
    super(message, 404, details, options);
  }
}

/** 405: the path exists, the method does not; `headers.Allow` names those that do. */
export class MethodNotAllowedException extends BaseException {
  constructor(message = 'Method Not Allowed', details?: unknown, options?: ExceptionOptions) {
    super(message, 405, details, options);
  }
}

/** 409: the request contradicts what is stored, such as a duplicate of a unique value (spec.md: Exception classes). */
export class ConflictException extends BaseException {
  constructor(message = 'Conflict', details?: unknown, options?: ExceptionOptions) {
    super(message, 409, details, options);
  }
}

/** 413: the body is larger than the service takes. */
export class PayloadTooLargeException extends BaseException {
  constructor(message = 'Payload Too Large', details?: unknown, options?: ExceptionOptions) {
    super(message, 413, details, options);
  }
}

/** 415: the body's type, character set or encoding is not one that the service reads. */
export class UnsupportedMediaTypeException extends BaseException {
  constructor(message = 'Unsupported Media Type', details?: unknown, options?: ExceptionOptions) {
    super(message, 415, details, options);
  }
}

/** 412: the record is not the version that If-Match names; it has changed meanwhile. */
export class PreconditionFailedException extends BaseException {
  constructor(message = 'Precondition Failed', details?: unknown, options?: ExceptionOptions) {
    super(message, 412, details, options);
  }
}

/** 422: the request is well formed and its content cannot be processed, such as a key that was used for another body. */
export class UnprocessableContentException extends BaseException {
  constructor(message = 'Unprocessable Content', details?: unknown, options?: ExceptionOptions) {
    super(message, 422, details, options);
  }
}

/** 423: the resource is locked by another caller. */
export class LockedException extends BaseException {
  constructor(message = 'Locked', details?: unknown, options?: ExceptionOptions) {
    super(message, 423, details, options);
  }
}

/** 428: the route requires If-Match with the version of the record. */
export class PreconditionRequiredException extends BaseException {
  constructor(message = 'Precondition Required', details?: unknown, options?: ExceptionOptions) {
    super(message, 428, details, options);
  }
}

/** 429: the client sent more than its share; `headers['Retry-After']` says when to try again, in seconds. */
export class TooManyRequestsException extends BaseException {
  constructor(message = 'Too Many Requests', details?: unknown, options?: ExceptionOptions) {
    super(message, 429, details, options);
  }
}

/** 499: the request was abandoned, so its work ends here. The status is for logs only. */
export class RequestAbandonedException extends BaseException {
  constructor(message = 'Client Closed Request', details?: unknown, options?: ExceptionOptions) {
    super(message, 499, details, { stack: false, ...options });
  }
}

/** 502: a service that this one calls failed or gave an answer that cannot be used; its name and status are in `context`. */
export class BadGatewayException extends BaseException {
  constructor(message = 'Bad Gateway', details?: unknown, options?: ExceptionOptions) {
    super(message, 502, details, options);
  }
}

/** 504: a service that this one calls did not answer in time. */
export class GatewayTimeoutException extends BaseException {
  constructor(message = 'Gateway Timeout', details?: unknown, options?: ExceptionOptions) {
    super(message, 504, details, options);
  }
}

/** 503: the service cannot take the request now; `headers['Retry-After']` says when to try again, in seconds. */
export class ServiceUnavailableException extends BaseException {
  constructor(message = 'Service Unavailable', details?: unknown, options?: ExceptionOptions) {
    super(message, 503, details, options);
  }
}

/** 500: an unexpected fault; never operational, so monitors always see it (spec.md: Exception classes). */
export class InternalServerErrorException extends BaseException {
  constructor(message = 'Internal Server Error', details?: unknown, options?: ExceptionOptions) {
    super(message, 500, details, { ...options, isOperational: false });
  }
}

/** 400 with `details.errors`: each invalid field and its messages (spec.md: Errors, body rule 2). */
export class ValidationException extends BadRequestException {
  declare readonly details: { errors: Record<string, string[]> };

  constructor(errors: Record<string, string[]>, message = 'Validation Failed', options?: ExceptionOptions) {
    super(message, { errors }, options);
  }
}

/** 500: a database operation failed; operational unless said otherwise (spec.md: Exception classes). */
export class DatabaseException extends InternalServerErrorException {
  override readonly isOperational: boolean;

  constructor(message = 'Database Operation Failed', details?: unknown, options?: ExceptionOptions) {
    super(message, details, options);
    this.isOperational = options?.isOperational ?? true;
  }
}

/** 503: the database cannot be reached, or has no connection or time left for this request. */
export class DatabaseUnavailableException extends DatabaseException {
  override readonly statusCode: number = 503;
  /** Whether what was asked of it may be stored: it was sent, and its answer was lost. */
  readonly mayBeStored: boolean;

  constructor(
    message = 'Database Unavailable',
    details?: unknown,
    { mayBeStored = false, ...options }: ExceptionOptions & { mayBeStored?: boolean } = {},
  ) {
    super(message, details, { headers: { 'Retry-After': '1' }, ...options });
    this.mayBeStored = mayBeStored;
  }
}

/** 400: a rule of the business was broken; the message says which (spec.md: Exception classes). */
export class BusinessException extends BadRequestException {
  constructor(message: string, details?: unknown, options?: ExceptionOptions) {
    super(message, details, options);
  }
}

/** 507: no space is left for what came; an operator has to free or add some. */
export class InsufficientStorageException extends BaseException {
  constructor(message = 'Insufficient Storage', details?: unknown, options?: ExceptionOptions) {
    super(message, 507, details, options);
  }
}
