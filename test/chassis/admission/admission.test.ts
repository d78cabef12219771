import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ClientShares } from '../../../src/chassis/admission/client-shares.ts';
import { oneAtATime } from './gated-server.ts';

describe('AdmissionGate', () => {
  it('answers what is too much at once with 503, Retry-After and the one error body', async () => {
    await using server = await oneAtATime();
    const { answer, release } = await server.hold();
    const refused = await fetch(server.url);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    const body = (await refused.json()) as { timestamp: string };
    expect(body).toEqual({
      success: false,
      message: 'The service is overloaded; try again in a moment',
      statusCode: 503,
      timestamp: expect.any(String),
    });
    expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp);
    release();
    expect((await answer).status).toBe(200);
    expect((await fetch(server.url)).status).toBe(200);
  });

  it('answers with the id that the request brings, and lets health pass', async () => {
    await using server = await oneAtATime();
    const { answer, release } = await server.hold();
    const refused = await fetch(server.url, { headers: { 'x-request-id': 'mine-1' } });
    expect([refused.status, refused.headers.get('x-request-id')]).toEqual([503, 'mine-1']);
    const statuses = await Promise.all(
      ['/livez', '/readyz?full', '/livezz'].map(async (path) => (await fetch(`${server.url}${path}`)).status),
    );
    expect(statuses).toEqual([200, 200, 503]);
    release();
    await answer;
  });

  it('gives back the place of a request that no step of the app takes', async () => {
    await using server = await oneAtATime();
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n');
    const [refused] = (await once(socket, 'data')) as [Buffer];
    expect(String(refused)).toMatch(/^HTTP\/1.1 400 /);
    await expect.poll(() => server.gate.atWork).toBe(0);
    socket.destroy();
  });

  it('hides its reason in production (spec.md: Errors, body rule 1)', async () => {
    await using server = await oneAtATime({ production: true });
    const { answer, release } = await server.hold();
    expect(await (await fetch(server.url)).json()).toMatchObject({ message: 'Internal Server Error', statusCode: 503 });
    release();
    await answer;
  });

  it('gives back the place of a client that went away', async () => {
    await using server = await oneAtATime();
    const socket = connect(server.port, '127.0.0.1');
    socket.write('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => server.gate.atWork).toBe(1);
    socket.destroy();
    await expect.poll(() => server.gate.atWork).toBe(0);
    expect((await fetch(server.url)).status).toBe(200);
  });

  it.each(['POST', 'GET', 'DELETE', 'PROPFIND'])(
    'counts a %s once its body has come, so that slow clients take no place',
    async (method) => {
      await using server = await oneAtATime();
      const slow = connect(server.port, '127.0.0.1');
      slow.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`);
      await once(slow, 'connect');
      for (let index = 0; index < 3; index += 1) expect((await fetch(server.url)).status).toBe(200);
      slow.write('}');
      const [answer] = (await once(slow, 'data')) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
      expect(server.gate.atWork).toBe(0);
      slow.destroy();
    },
  );

  it.each(['Content-Length: 1', 'Transfer-Encoding: chunked'])(
    'counts a GET with a body at once (%s)',
    async (body) => {
      await using server = await oneAtATime();
      const socket = connect(server.port, '127.0.0.1');
      socket.write(`GET /hold HTTP/1.1\r\nHost: a\r\n${body}\r\n\r\n`);
      await expect.poll(() => server.gate.atWork).toBe(1);
      expect((await fetch(server.url)).status).toBe(503);
      socket.destroy();
      await expect.poll(() => server.gate.atWork).toBe(0);
    },
  );

  it('exempts health and not what looks like it', async () => {
    await using server = await oneAtATime();
    const { answer, release } = await server.hold();
    const status = async (path: string, method = 'GET') => (await fetch(server.url + path, { method })).status;
    expect([await status('/readyz?full'), await status('/livez', 'HEAD')]).toEqual([200, 200]);
    expect([await status('/livez/more'), await status('/livez', 'POST')]).toEqual([503, 503]);
    release();
    await answer;
  });

  it('exempts no more probes of a client than probers send, and charges it for all of them', async () => {
    await using server = await oneAtATime();
    const { answer, release } = await server.hold();
    const ask = async (client: string) =>
      (await fetch(`${server.url}/livez`, { headers: { 'x-client': client } })).status;
    for (let index = 0; index < 500; index += 1) expect(await ask('many')).toBe(200);
    expect([await ask('many'), await ask('few')]).toEqual([503, 200]);
    expect(server.charged.filter(([client]) => client === 'many')).toHaveLength(501);
    release();
    await answer;
    expect(await ask('many')).toBe(200);
  });

  it('has others spared of a client whose request comes late in a long turn of the event loop, refused or not', async () => {
    const situation = { turnMs: 9, overloaded: false, waitMs: 600 };
    await using server = await oneAtATime(situation);
    await server.status();
    expect(server.spared).toHaveLength(0);
    situation.turnMs = 11;
    await server.status();
    situation.overloaded = true;
    expect(await server.status()).toBe(503);
    expect(server.spared).toHaveLength(2);
  });

  it('takes no reader of pages for heavy beside clients that ask for next to nothing, again and again', async () => {
    const shares = new ClientShares();
    await using server = await oneAtATime({ shares, maximum: 100 });
    const ask = (client: string) => server.status({ 'x-client': client });
    for (let index = 0; index < 30; index += 1) await Promise.all([...'abcdefgh'].map(ask));
    for (let index = 0; index < 3; index += 1) {
      await ask('reader');
      shares.charge('reader', 60, performance.now());
    }
    expect(shares.of('reader', performance.now())).not.toBe('heavy');
  });

  it('counts nothing for a body that was refused', async () => {
    await using server = await oneAtATime();
    const headers = { 'content-type': 'application/json' };
    const tooLarge = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify('x'.repeat(1000)) });
    expect([tooLarge.status, server.gate.atWork]).toEqual([413, 0]);
  });
});
