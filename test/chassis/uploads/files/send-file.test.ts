import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Response } from 'express';
import { expect, it } from 'vitest';
import type { FileStore } from '../../../../src/chassis/uploads/files/file-store.ts';
import { sendStored } from '../../../../src/chassis/uploads/files/send-file.ts';

it('leaves no file open whose request was answered before it could be sent', async () => {
  const stream = Readable.from(['a file']);
  const files = { open: async () => ({ stream, size: 6 }) } as unknown as FileStore;
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  res.writeHead(503).end();
  const sending = sendStored(res as Response, files, { name: 'a.txt', visibility: 'private' }, { 'X-A': 'b' });
  await expect(sending).rejects.toMatchObject({ code: 'ERR_HTTP_HEADERS_SENT' });
  expect(stream.destroyed).toBe(true);
});
