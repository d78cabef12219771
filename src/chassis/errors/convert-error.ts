import { convertHttpError } from './convert-http-error.ts';
import { convertZodError } from './convert-zod-error.ts';
import { BaseException, InternalServerErrorException } from './exceptions.ts';

/**
 * Turns errors of one origin into exceptions; undefined for an error of another origin. It keeps the error as the
 * exception's cause.
 */
export type ErrorConverter = (error: unknown) => BaseException | undefined;

const ownConverters: readonly ErrorConverter[] = [convertZodError, convertHttpError];

/**
 * The exception for any thrown value (spec.md: Handling, rule 1): an exception as it is, otherwise what the first
 * converter makes of it, otherwise a 500 that is not operational, with the value as its cause. Never throws, whatever
 * the value: null, a frozen object, a proxy that throws.
 *
 * @param converters asked in order, before those of the chassis
 */
export function toException(error: unknown, converters: readonly ErrorConverter[] = []): BaseException {
  try {
    if (error instanceof BaseException) return withFailureStatus(error);
    return convert(error, converters) ?? convert(error, ownConverters) ?? unexpected(error);
  } catch {
    return new InternalServerErrorException('A value was thrown that cannot be read');
  }
}

function convert(error: unknown, converters: readonly ErrorConverter[]): BaseException | undefined {
  for (const converter of converters) {
    try {
      const exception = converter(error);
      if (exception) return withFailureStatus(exception);
    } catch (failure) {
      return new InternalServerErrorException('An error converter failed', undefined, {
        cause: new AggregateError([error, failure], 'converter failed', { cause: error }),
      });
    }
  }
  return undefined;
}

/** A status outside 400 to 599 would answer a failure as a success. */
function withFailureStatus(exception: BaseException): BaseException {
  const { statusCode } = exception;
  if (Number.isInteger(statusCode) && statusCode >= 400 && statusCode <= 599) return exception;
  return new InternalServerErrorException(
    `${exception.name} has status ${statusCode}, expected 400 to 599`,
    undefined,
    {
      cause: exception,
    },
  );
}

function unexpected(error: unknown): BaseException {
  const message = error instanceof Error && typeof error.message === 'string' ? error.message : '';
  return new InternalServerErrorException(message || undefined, undefined, { cause: error ?? String(error) });
}
