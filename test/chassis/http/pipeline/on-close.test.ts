import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it, onTestFinished } from 'vitest';
import { onClose } from '../../../../src/chassis/http/pipeline/request-pipeline.ts';

async function listening(answer: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((_req, res) => answer(res)).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('calls each listener once, in order, by one listener of the response', async () => {
  const heard: string[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<ServerResponse>();
  let listeners = 0;
  const url = await listening((res) => {
    const before = res.listenerCount('close');
    onClose(res, () => heard.push('first'));
    onClose(res, () => heard.push('second'));
    onClose(res, resolve);
    listeners = res.listenerCount('close') - before;
    res.end('answer');
  });
  expect(await (await fetch(url)).text()).toBe('answer');
  expect((await closed).writableFinished).toBe(true);
  expect(heard).toEqual(['first', 'second']);
  expect(listeners).toBe(1);
});

it('hears of a client that goes away', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<ServerResponse>();
  const url = await listening((res) => {
    onClose(res, resolve);
    res.write('a part');
  });
  const sent = get(url, () => sent.destroy());
  sent.on('error', () => undefined);
  expect((await closed).writableFinished).toBe(false);
});

it('leaves the author of a handler the ten listeners of Node beside a pipeline', async () => {
  const warnings: Error[] = [];
  const remember = (warning: Error) => warnings.push(warning);
  process.on('warning', remember);
  onTestFinished(() => void process.off('warning', remember));
  const url = await listening((res) => {
    onClose(res, () => undefined);
    for (let count = 0; count < 4; count += 1) res.on('close', () => undefined);
    void pipeline(Readable.from(['a', 'b']), res);
  });
  expect(await (await fetch(url)).text()).toBe('ab');
  expect(warnings).toEqual([]);
});
