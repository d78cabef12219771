/** One class of exception, as docs/reference/errors.md lists it. */
interface CatalogueEntry {
  name: string;
  statusCode: number;
  /** Undefined where the message is required. */
  defaultMessage: string | undefined;
  /** Whether a monitor hears of it: exceptions whose `isOperational` is false. */
  reported: boolean;
  meaning: string;
}

function entry(
  name: string,
  statusCode: number,
  defaultMessage: string | undefined,
  meaning: string,
  reported = false,
): CatalogueEntry {
  return { name, statusCode, defaultMessage, reported, meaning };
}

/** Every exception class of the chassis (spec.md: Exception classes); docs/reference/errors.md shows the same rows. */
export const errorCatalogue: readonly CatalogueEntry[] = [
  entry('BadRequestException', 400, 'Bad Request', 'The request cannot be understood or breaks a rule of the API.'),
  entry(
    'ValidationException',
    400,
    'Validation Failed',
    'Fields of the body are invalid; `details.errors` names them.',
  ),
  entry('BusinessException', 400, undefined, 'A rule of the business was broken; the message says which.'),
  entry('UnauthorizedException', 401, 'Unauthorized', 'Missing or invalid credentials.'),
  entry('ForbiddenException', 403, 'Forbidden', 'The caller is known and may not do this.'),
  entry('NotFoundException', 404, 'Not Found', 'No such record or route.'),
  entry('MethodNotAllowedException', 405, 'Method Not Allowed', 'The path exists, the method does not; see `Allow`.'),
  entry('ConflictException', 409, 'Conflict', 'The request contradicts what is stored, such as a duplicate.'),
  entry(
    'PreconditionFailedException',
    412,
    'Precondition Failed',
    'The record is not the version that `If-Match` names; get it again and repeat the change on what it is now.',
  ),
  entry('PayloadTooLargeException', 413, 'Payload Too Large', 'The body or the file is larger than the service takes.'),
  entry(
    'UnsupportedMediaTypeException',
    415,
    'Unsupported Media Type',
    'The type, character set or encoding of the body is not one that the service reads.',
  ),
  entry(
    'UnprocessableContentException',
    422,
    'Unprocessable Content',
    'The request is well formed, but its content cannot be processed.',
  ),
  entry('LockedException', 423, 'Locked', 'What the request would change is locked by somebody else.'),
  entry(
    'PreconditionRequiredException',
    428,
    'Precondition Required',
    'The change needs `If-Match` with the `ETag` of the record as the client knows it.',
  ),
  entry(
    'TooManyRequestsException',
    429,
    'Too Many Requests',
    'The client sent more than its share; `RateLimit` and `Retry-After` say when to try again.',
  ),
  entry(
    'RequestAbandonedException',
    499,
    'Client Closed Request',
    'The request was abandoned before its answer; seen in logs only.',
  ),
  entry('InternalServerErrorException', 500, 'Internal Server Error', 'An unexpected fault of the service.', true),
  entry('DatabaseException', 500, 'Database Operation Failed', 'The database refused or failed an operation.'),
  entry(
    'BadGatewayException',
    502,
    'Bad Gateway',
    'A service that this one calls failed or gave an answer that cannot be used.',
  ),
  entry(
    'DatabaseUnavailableException',
    503,
    'Database Unavailable',
    'The database cannot be reached or has no time left; `Retry-After` says when to try again.',
  ),
  entry('ServiceUnavailableException', 503, 'Service Unavailable', 'The service cannot take the request now.'),
  entry('GatewayTimeoutException', 504, 'Gateway Timeout', 'A service that this one calls did not answer in time.'),
  entry('InsufficientStorageException', 507, 'Insufficient Storage', 'There is no room left for uploads.'),
];
