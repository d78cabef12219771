import { describe, expect, it } from 'vitest';
import { runWithRequestContext } from '../../../src/chassis/context/request-context.ts';
import { createLogger, flushLogger, logger, setLogger } from '../../../src/chassis/telemetry/logger.ts';
import { memoryLog } from '../http/bare-app.ts';

describe('createLogger', () => {
  it('masks values under a secret name at any depth', () => {
    const { logger, lines } = memoryLog();
    const secrets = { authorization: 'a', cookie: 'b', 'set-cookie': ['c'], passwordHash: 'd', refreshToken: 'e' };
    logger.info({ ...secrets, request: { headers: secrets, CURSOR_SECRET: 'f' }, apiKey: 'g' }, 'line');
    expect(JSON.stringify(lines)).not.toMatch(/"[a-g]"/);
    expect(lines[0]).toMatchObject({ request: { headers: { cookie: '[redacted]' } } });
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

  it('writes nothing at level silent', () => {
    const { logger, lines } = memoryLog('silent');
    logger.fatal('x');
    expect(lines).toEqual([]);
  });

  it('writes readable lines where pretty is asked for', () => {
    expect(() => createLogger({ level: 'silent', pretty: true }).info('x')).not.toThrow();
  });
});

describe('logger', () => {
  it('is the one that was set', () => {
    const before = logger();
    const { logger: replacement } = memoryLog();
    setLogger(replacement);
    expect(logger()).toBe(replacement);
    expect(flushLogger).not.toThrow();
    setLogger(before);
    expect(flushLogger).not.toThrow();
  });
});
