import type { BaseException } from './exceptions.ts';

/** The JSON body of every failure (spec.md: Error response body). */
export interface ErrorBody {
  success: false;
  message: string;
  statusCode: number;
  /** ISO 8601: when the exception was made. */
  timestamp: string;
  details?: unknown;
}

/**
 * The body of an exception. In production a status of 500 and above says only `Internal Server Error`, without details
 * (spec.md: Errors, body rule 1).
 */
export function errorBody(exception: BaseException, production: boolean): ErrorBody {
  const { statusCode, details } = exception;
  const hidden = production && statusCode >= 500;
  return {
    success: false,
    message: hidden ? 'Internal Server Error' : exception.message,
    statusCode,
    timestamp: exception.timestamp.toISOString(),
    ...(details !== undefined && !hidden && { details }),
  };
}

/** What a NotFoundException says about a model, e.g. `Product not found`. */
export function notFoundMessage(model: string | undefined): string {
  const name = modelWords(model);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} not found`;
}

/** A model's name in words, e.g. `refresh token`; `record` without one. */
export function modelWords(model: string | undefined): string {
  return model === undefined ? 'record' : model.replace(/(?<=[a-z\d])[A-Z]/g, ' $&').toLowerCase();
}
