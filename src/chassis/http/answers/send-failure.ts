import { type ServerResponse, STATUS_CODES } from 'node:http';
import { errorBody } from '../../errors/error-body.ts';
import type { BaseException } from '../../errors/exceptions.ts';
import { type HeaderList, headerLines } from './answer-headers.ts';
import { sendJsonResponse } from './responses.ts';

/** What every failure says of its body, beside the length of it. */
export const failureHeaders: HeaderList = [
  ...['content-type', 'application/json; charset=utf-8'],
  ...['cache-control', 'no-store'],
];

/**
 * Answers with the one error body (spec.md: Error response body) and the headers of the exception.
 */
export function sendFailure(res: ServerResponse, exception: BaseException, production: boolean): void {
  res.setHeader('cache-control', 'no-store');
  for (const [name, value] of Object.entries(exception.headers ?? {})) res.setHeader(name, value);
  sendJsonResponse(res, exception.statusCode, errorBody(exception, production));
}

/**
 * The same answer as bytes, for a connection without a request that could be answered. It says that the connection closes.
 *
 * @param headers beside those of every failure, a line for each
 */
export function failureText(exception: BaseException, headers: string): string {
  const { statusCode } = exception;
  const body = JSON.stringify(errorBody(exception, true));
  return (
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${headers}${headerLines(failureHeaders)}` +
    `content-length: ${Buffer.byteLength(body)}\r\nDate: ${new Date().toUTCString()}\r\nConnection: close\r\n\r\n${body}`
  );
}
