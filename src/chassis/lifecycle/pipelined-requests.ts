import { AsyncResource } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Turns } from '../http/pipeline/request-pipeline.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { CutConnection } from './cut-connections.ts';

/** Requests that may wait for their turn on one connection. */
const mostOfConnection = 32;

const waitingKey = Symbol('requests that wait for their turn');

type PipeliningSocket = Socket & { [waitingKey]?: number };

/** How many requests may wait on all connections together: one costs about as much memory as an open connection. */
type PipelineLimits = Pick<ConnectionLimits, 'HTTP_MAX_CONNECTIONS'>;

/**
 * Has the requests that a client sends ahead of its answers (pipelining, RFC 9112, 9.3.2) begin one after the other. Node
 * would begin all of them at once and hold their answers until the ones before are taken: one connection that reads nothing
 * would have hundreds of open files, query results and compressors. A connection with more than 32 requests that wait is
 * cut, and so is one that sends one more while HTTP_MAX_CONNECTIONS wait on all connections together.
 */
export class PipelinedRequests implements Turns {
  readonly #total: number;
  readonly #cut: CutConnection;
  #waiting = 0;

  constructor({ HTTP_MAX_CONNECTIONS: total }: PipelineLimits, cut: CutConnection) {
    this.#total = total;
    this.#cut = cut;
  }

  wait(response: ServerResponse, begin: () => void): void {
    const socket: PipeliningSocket = response.req.socket;
    const ofConnection = socket[waitingKey] ?? 0;
    if (ofConnection >= mostOfConnection || this.#waiting >= this.#total) {
      this.#cut(socket, 'pipelined');
      return;
    }
    this.#waiting += 1;
    socket[waitingKey] = ofConnection + 1;
    const leave = () => {
      this.#waiting -= 1;
      socket[waitingKey] = (socket[waitingKey] ?? 1) - 1;
    };
    // Otherwise it would run in the context of the request before it.
    const own = new AsyncResource('PipelinedRequest');
    response.once('close', leave);
    response.once('socket', () => {
      response.off('close', leave);
      leave();
      // The one before it ends first, and other connections get their turn.
      setImmediate(() => !socket.destroyed && own.runInAsyncScope(begin));
    });
  }
}
