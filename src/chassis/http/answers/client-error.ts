import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorBody } from '../../errors/error-body.ts';
import { BaseException } from '../../errors/exceptions.ts';
import { logger } from '../../telemetry/logger.ts';

const failures: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the request body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
};
/** What a client has to read the answer before its connection is gone. */
const lingerMs = 1000;
const malformed = [400, 'The request is not valid HTTP'] as const;

/**
 * Answers bytes that are no HTTP request with the one error body and closes the connection: 400, 408 when they came too
 * slowly, 431 when the headers are too large. For `server.on('clientError', answerClientError)`.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const [status, message] = failures[error.code ?? ''] ?? malformed;
  const underWay = (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;
  if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent) {
    socket.destroy();
    return;
  }
  const { remoteAddress } = socket as Socket;
  logger().warn({ code: error.code, statusCode: status, ipAddress: remoteAddress }, message);
  const body = JSON.stringify(errorBody(new BaseException(message, status), true));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  // Node forgets a connection that was late, and a client that never closes its side would keep it for ever.
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
