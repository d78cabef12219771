import type { ServerResponse } from 'node:http';

/** The status of a request whose client went away before the answer had begun, as proxies count it. */
const clientClosedRequest = 499;

/** The status that a request ended with, for logs and metrics; to be asked once it is over. */
export function answerStatus(res: ServerResponse): number {
  return res.headersSent ? res.statusCode : clientClosedRequest;
}
