import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { drainOutput, flushOutput, showControls } from '../../../src/chassis/telemetry/log-output.ts';
import { createLogger, masksOf, setLogLevel } from '../../../src/chassis/telemetry/logger.ts';
import { memoryLog } from '../http/bare-app.ts';

describe('createLogger', () => {
  it('masks values under a secret name at any depth', () => {
    const { logger, lines } = memoryLog();
    const secrets = { authorization: 'a', cookie: 'b', 'set-cookie': ['c'], passwordHash: 'd', refreshToken: 'e' };
    logger.info({ ...secrets, request: { headers: secrets, CURSOR_SECRET: 'f' }, apiKey: 'g' }, 'line');
    expect(JSON.stringify(lines)).not.toMatch(/"[a-g]"/);
    expect(lines[0]).toMatchObject({ request: { headers: { cookie: '[redacted]' } } });
  });

  it('masks what belongs to a secret name as a whole, and what a child has for all its lines', () => {
    const { logger, lines } = memoryLog();
    const child = logger.child({ password: 'a', module: 'shop' }).child({ cookies: { sid: 'b' } });
    child.info({ tokens: { access: 'c' }, secrets: ['d'] }, 'line');
    expect(JSON.stringify(lines)).not.toMatch(/"[a-d]"/);
    expect(lines[0]).toMatchObject({ module: 'shop', tokens: '[redacted]' });
  });

  it('masks credentials in the messages of errors, by whatever name they come', () => {
    const { logger, lines } = memoryLog();
    const error = new Error('cannot reach postgres://user:hidden@db/x', { cause: new Error('sent Bearer hidden') });
    const details = { detail: Object.assign(new Error('x'), { toJSON: () => ({ body: 'hidden' }) }) };
    logger.error({ err: error }, error.message);
    logger.error({ error, other: { error }, ...details }, 'failed with Basic hidden');
    logger.warn(error);
    logger.error({ err: error });
    logger.fatal(error.message);
    expect(lines).toHaveLength(5);
    expect(JSON.stringify(lines)).not.toContain('hidden');
  });

  it('masks secrets in messages of every level', () => {
    const { logger, lines } = memoryLog();
    logger.info('signed in with password=hidden');
    logger.debug({ reason: 'token=hidden' }, 'refused');
    expect(JSON.stringify(lines)).not.toContain('hidden');
  });

  it('writes a line of bounded length, whatever an error holds', () => {
    let longest = 0;
    const { logger, lines } = memoryLog('info', (line) => {
      longest = Math.max(longest, line.length);
    });
    const error = new Error('m'.repeat(20_000_000), { cause: new Error('c'.repeat(1_000_000)) });
    runWithRequestContext({ requestId: 'r1', method: 'GET', url: '/', startTime: new Date() }, () => {
      logger.error({ err: error }, error.message);
      logger.error(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, 'x'])), 'many');
    });
    expect(longest).toBeLessThan(70_000);
    expect(lines).toMatchObject([
      { level: 'error', requestId: 'r1', err: { stack: expect.stringContaining('    at ') } },
      { level: 'error', requestId: 'r1', msg: 'many', cut: expect.stringContaining('field1') },
    ]);
  });

  it('writes nothing of real requests, responses and connections but method, URL and status', async () => {
    const { logger, lines } = memoryLog();
    const server = createServer((req, res) => {
      logger.info({ req, res }, 'one');
      logger.info({ request: req, answer: res, socket: req.socket }, 'two');
      res.end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await fetch(`http://127.0.0.1:${port}/?token=hidden`, { headers: { authorization: 'Bearer hidden' } });
    server.close();
    expect(lines).toMatchObject([
      { req: { method: 'GET', url: '/?token=[redacted]' }, res: { status: 200 } },
      { request: { method: 'GET' }, answer: { status: 200 }, socket: '[Socket]' },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/hidden|eaders/);
  });

  it('leaves what it is given as it was', () => {
    const { logger } = memoryLog();
    const line = { user: { password: 'p' } };
    logger.info(line, 'line');
    expect(line).toEqual({ user: { password: 'p' } });
  });

  it('names the request in every line of a request', () => {
    const { logger, lines } = memoryLog();
    logger.info('outside');
    runWithRequestContext({ requestId: 'r1', method: 'GET', url: '/', startTime: new Date() }, () => logger.info('in'));
    expect(lines.map(({ requestId }) => requestId)).toEqual([undefined, 'r1']);
  });

  it('writes of an error its type, message, code and stack with causes, and nothing else', () => {
    const { logger, lines } = memoryLog();
    const error = Object.assign(new Error('top', { cause: new Error('root') }), { code: 'E1', config: { auth: 'x' } });
    logger.error({ err: error }, 'failed');
    expect(Object.keys(lines[0]?.err as object)).toEqual(['type', 'message', 'code', 'stack']);
    expect(lines[0]?.err).toMatchObject({ stack: expect.stringContaining('Caused by: Error: root') });
  });

  it('writes of a request its method and URL only, of a response its status', () => {
    const { logger, lines } = memoryLog();
    const req = { method: 'GET', url: '/?token=t', headers: { authorization: 'a' }, socket: {} };
    logger.info({ req, res: { statusCode: 200, socket: {} } }, 'both');
    expect(lines[0]).toMatchObject({ req: { method: 'GET', url: '/?token=[redacted]' }, res: { status: 200 } });
    expect(JSON.stringify(lines)).not.toMatch('headers|socket');
  });

  it('names request and trace in lines of module loggers too', () => {
    const { logger, lines } = memoryLog();
    const context = { requestId: 'r1', traceId: 't1', method: 'GET', url: '/', startTime: new Date() };
    runWithRequestContext(context, () => logger.child({ module: 'shop' }).info({ sku: 'x' }, 'in'));
    expect(lines).toMatchObject([{ module: 'shop', sku: 'x', requestId: 'r1', traceId: 't1' }]);
  });

  it('writes nothing at level silent', () => {
    const { logger, lines } = memoryLog('silent');
    logger.fatal('x');
    expect(lines).toEqual([]);
  });

  it('writes readable lines where pretty is asked for', () => {
    expect(() => createLogger({ level: 'silent', pretty: true }).info('x')).not.toThrow();
  });
});

describe('showControls', () => {
  it('keeps control characters escaped where lines are made readable, but line breaks of a stack', () => {
    const line = JSON.stringify({ url: 'a\r\u001b[31m', stack: 'a\n  b' });
    expect(JSON.parse(showControls(line))).toEqual({ url: 'a\\r\\u001b[31m', stack: 'a\n  b' });
  });

  it('keeps those escaped that only some terminals act upon, and makes none of what a text spells out', () => {
    const shown = (text: string) => {
      let written = '';
      memoryLog('info', (line) => {
        written = line;
      }).logger.info({ text });
      return JSON.parse(showControls(written)).text;
    };
    expect(shown('\u009b31m \u007f \u2028')).toBe(String.raw`\u009b31m \u007f \u2028`);
    const spelt = String.raw`\r \u001b[31m \\u001b \\\r`;
    expect(shown(spelt)).toBe(spelt);
  });
});

describe('drainOutput', () => {
  it('resolves where nothing is buffered, and gives up a stream that takes nothing for that long', async () => {
    await drainOutput(1);
    let destroyed = 0;
    const stuck = { onProgress: () => undefined, flush: () => undefined, destroy: () => void destroyed++ };
    await drainOutput(1, stuck as never);
    expect(destroyed).toBe(1);
  });

  it('flushOutput writes nothing where nothing is open', () => {
    expect(flushOutput).not.toThrow();
  });
});

describe('the parts of a logger', () => {
  it('are its own: another logger masks and writes as before', () => {
    const [one, other] = [memoryLog('info'), memoryLog('info')];
    masksOf(one.logger).add('iban');
    setLogLevel(one.logger, 'debug');
    for (const { logger } of [one, other]) {
      logger.info({ iban: 'DE1' }, 'line');
      logger.debug('fine');
    }
    expect(one.lines).toMatchObject([{ iban: '[redacted]' }, { msg: 'fine' }]);
    expect(other.lines).toMatchObject([{ iban: 'DE1' }]);
    expect(other.lines).toHaveLength(1);
  });

  it('belong to its children too', () => {
    const { logger, lines } = memoryLog();
    const child = logger.child({ module: 'shop' });
    masksOf(child).add('phone');
    child.info({ phone: '1' }, 'line');
    logger.info({ phone: '1' }, 'line');
    expect(lines.map(({ phone }) => phone)).toEqual(['[redacted]', '[redacted]']);
  });
});
