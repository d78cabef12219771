import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BaseException, MethodNotAllowedException } from '../../errors/exceptions.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { endConnection } from '../bodies/request-body.ts';
import { requestIdOf } from '../pipeline/request-context-of.ts';
import type { AnswerHeaders, KnownHeaders } from './answer-headers.ts';
import { failureText } from './send-failure.ts';

const failures: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions of the request body are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
};
/** How a server refuses what reaches no app. */
export interface RefusalOptions {
  /** What every answer carries. */
  headers: AnswerHeaders;
  logger: Logger;
}

/** Knows the answer that is under way, and the request that is read. */
type AnsweringSocket = Duplex & {
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
};

const malformed = [400, 'The request is not valid HTTP'] as const;

/**
 * Answers bytes that are no HTTP request with the one error body and closes the connection: 400, 408 when they came too
 * slowly, 431 when the headers are too large. For `server.on('clientError', …)`.
 */
export function answerClientErrors({ headers, logger }: RefusalOptions) {
  return function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
    // What a refused client still sends is no request either. To close for it would reset the connection before the refusal is
    // read, and a proxy takes that for a failure of the service.
    if (socket.writableEnded) return;
    const [status, message] = failures[error.code ?? ''] ?? malformed;
    const underWay = (socket as AnsweringSocket)._httpMessage;
    if (error.code === 'ECONNRESET' || !socket.writable || underWay?.headersSent || isAnswered(socket)) {
      // What came before on the connection may have its whole answer, which is not written yet.
      if (underWay?.writableEnded && socket.writable) (socket as Socket).destroySoon();
      else socket.destroy();
      return;
    }
    // A request that is only late has told its id and origin.
    const requestId =
      (underWay?.getHeader('x-request-id') as string) ?? (underWay ? requestIdOf(underWay.req) : randomUUID());
    const exception = new BaseException(message, status);
    logRefusal(logger, socket as Socket, exception, { requestId, code: error.code });
    endWith(socket as Socket, exception, requestId, headers.of(underWay?.req.headers.origin));
  };
}

/** Whether the request whose body is read has its answer already: a second one would be taken for that of the next request. */
function isAnswered({ _httpMessage: underWay, parser }: AnsweringSocket): boolean {
  return !underWay && parser?.incoming?.complete === false;
}

/**
 * For `server.on('connect', …)`: Node would close the connection without a word. So it is where a request before it has no
 * answer yet, which the refusal would be taken for.
 */
export function refuseTunnels({ headers, logger }: RefusalOptions) {
  return function refuseTunnel(req: IncomingMessage, socket: Duplex): void {
    const exception = new MethodNotAllowedException('The service is no proxy: it does not take CONNECT');
    const requestId = requestIdOf(req);
    // Node has taken its own listener away, and an error without one ends the process: the client may have gone by now.
    socket.on('error', () => undefined);
    logRefusal(logger, socket as Socket, exception, { requestId, code: 'CONNECT' });
    if ((socket as AnsweringSocket)._httpMessage) socket.destroy();
    else endWith(socket as Socket, exception, requestId, headers.of(req.headers.origin));
  };
}

function logRefusal(logger: Logger, socket: Socket, { message, statusCode }: BaseException, line: object): void {
  logger.warn({ ...line, statusCode, ipAddress: socket.remoteAddress }, message);
}

/** Node forgets a connection that was late, and a client that never closes its side would keep it for ever. */
function endWith(socket: Socket, exception: BaseException, requestId: string, { lines }: KnownHeaders): void {
  endConnection(socket, failureText(exception, `x-request-id: ${requestId}\r\n${lines}`));
}
