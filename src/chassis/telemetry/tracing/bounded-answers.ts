import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { context } from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';

/** What a collector may answer: a sentence on what it did not take. */
const most = { bytes: 65_536, pieces: 1_024 };

const created = 'http.client.request.created';
const answered = 'http.client.response.finish';

/**
 * Cuts an answer to an export that goes on for too long. The exporter keeps up to 4 MB of it as it comes, and pieces of one
 * byte take a hundred times that.
 *
 * @returns what ends it
 */
export function boundAnswersToExports(): () => void {
  const exports = new WeakSet<object>();
  const note = (message: unknown) => {
    if (isTracingSuppressed(context.active())) exports.add((message as { request: ClientRequest }).request);
  };
  const bound = (message: unknown) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    if (exports.has(request)) cutBeyond(response);
  };
  subscribe(created, note);
  subscribe(answered, bound);
  return () => {
    unsubscribe(created, note);
    unsubscribe(answered, bound);
  };
}

/** The exporter listens in the same turn, so nothing is lost on it. */
function cutBeyond(response: IncomingMessage): void {
  let [bytes, pieces] = [0, 0];
  response.on('data', (piece: Buffer) => {
    bytes += piece.length;
    pieces += 1;
    if (bytes > most.bytes || pieces > most.pieces) {
      response.destroy(new Error(`The collector answered with more than ${most.bytes} bytes or ${most.pieces} pieces`));
    }
  });
}
