import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import express, { Router } from 'express';
import { pino, symbols } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openTransport } from '../../src/chassis/outbound/transport.ts';
import { anyProvider, openEmptyDatabase } from '../support/empty-database.ts';
import { read } from './repository.ts';

/** Packages of which the chassis uses more than they promise; another version may lack it. */
const pinned = [
  '@prisma/adapter-libsql',
  '@prisma/adapter-pg',
  '@prisma/client',
  '@prisma/driver-adapter-utils',
  '@prisma/instrumentation',
  'express',
  'pino',
  'undici',
  'zod',
  'node',
];

describe('what the chassis uses of packages beyond their interface', () => {
  it.each(pinned)('is that of one version of %s', (name) => {
    const { dependencies, peerDependencies, devDependencies } = JSON.parse(read('package.json'));
    expect({ ...devDependencies, ...dependencies, ...peerDependencies }[name]).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('Prisma tells the models and relations of a client', async () => {
    const { client, close } = await openEmptyDatabase(anyProvider);
    const { models } = (client as unknown as { _runtimeDataModel: { models: Record<string, { fields: object[] }> } })
      ._runtimeDataModel;
    await close();
    expect(models['Product']?.fields).toContainEqual(
      expect.objectContaining({ name: 'category', type: 'Category', relationName: expect.any(String) }),
    );
  });

  it('zod keeps registered schemas by their id', () => {
    const schema = z.object({}).meta({ id: 'InternalsProbe' });
    expect(z.globalRegistry._idmap.get('InternalsProbe')).toBe(schema);
    z.globalRegistry.remove(schema);
  });

  it('pino keeps the stream of a logger', () => {
    const stream = { write: () => undefined };
    expect((pino({}, stream) as unknown as Record<symbol, unknown>)[symbols.streamSym]).toBe(stream);
  });

  it('Express keeps the layers of a router and of its routes', () => {
    const router = Router().get('/things', (_req, res) => void res.end());
    const [layer] = router.stack;
    expect(layer?.route?.path).toBe('/things');
    expect(layer?.route?.stack[0]?.handle).toBeTypeOf('function');
    expect((express() as unknown as { handle: unknown }).handle).toBeTypeOf('function');
  });

  it('router, which Express is made of, keeps what was mounted and the paths that it was mounted at', () => {
    const inside = Router();
    const router = Router().use('/one', inside).use(['/two', '/three'], inside).use(inside);
    expect(router.stack.map(({ handle }) => handle)).toEqual([inside, inside, inside]);
    const layers = router.stack as unknown as { rawPath: unknown }[];
    expect(layers.map(({ rawPath }) => rawPath)).toEqual(['/one', ['/two', '/three'], '/']);
    expect(JSON.parse(read('package-lock.json')).packages['node_modules/router'].version).toBe('2.3.0');
  });

  it('undici keeps what fetch is sent with where Node does, so that it can be kept from changing it', async () => {
    await fetch('data:,x');
    const keys = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')];
    const now = () => keys.map((key) => (globalThis as unknown as Record<symbol, unknown>)[key]);
    const before = now();
    const options = { url: 'http://127.0.0.1:1', connections: 1, queue: 0, onState: () => undefined };
    const { pool } = await openTransport({ ...options, breaker: { calls: 1, failedShare: 0.5, openMs: 1 } });
    await pool.close();
    expect(now()).toEqual(before);
    expect(await (await fetch('data:,x')).text()).toBe('x');
  });

  it('Node tells how much of a write the operating system has not taken yet', async () => {
    const server = createServer((_req, res) => void res.end(Buffer.alloc(20_000_000))).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const asked = once(server, 'request') as Promise<[IncomingMessage]>;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.write('GET / HTTP/1.0\r\n\r\n');
    const [{ socket }] = await asked;
    const { _handle: handle } = socket as Socket & { _handle: { bytesWritten: number; writeQueueSize: number } };
    expect(handle.bytesWritten).toBeGreaterThan(20_000_000);
    const before = handle.writeQueueSize;
    expect(before).toBeGreaterThan(0);
    client.resume();
    // Gone with the connection, once all was taken.
    await expect.poll(() => handle.writeQueueSize ?? 0).toBeLessThan(before);
    client.destroy();
    server.close();
  });

  it('Node tells the answer that a connection is waiting for', async () => {
    const server = createServer((_req, res) => {
      res.end(String((res.socket as unknown as { _httpMessage: unknown })._httpMessage === res));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end('GET / HTTP/1.0\r\n\r\n');
    let answer = '';
    for await (const chunk of socket.setEncoding('utf8')) answer += chunk;
    server.close();
    expect(answer).toMatch(/true$/);
  });
});
