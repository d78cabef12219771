import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

/**
 * Sends what a source gives, as far as the client takes it; the source ends with the connection.
 *
 * @throws what the source raises, and an error of Node when the client goes away
 */
export async function pipeAnswer(source: NodeJS.ReadableStream | AsyncIterable<string>, res: Response): Promise<void> {
  await pipeline(source, res);
}
