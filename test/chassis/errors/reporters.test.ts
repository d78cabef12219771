import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../src/chassis/context/request-context.ts';
import {
  BadRequestException,
  BaseException,
  DatabaseException,
  InternalServerErrorException,
} from '../../../src/chassis/errors/exceptions.ts';
import { logReporter } from '../../../src/chassis/errors/reporters/log-reporter.ts';
import { monitorReporter } from '../../../src/chassis/errors/reporters/reporter.ts';
import { memoryLog } from '../http/bare-app.ts';

const context: RequestContext = { requestId: 'r1', method: 'GET', url: '/x', startTime: new Date(), userId: 'u1' };

describe('logReporter', () => {
  it.each([
    [400, 'warn'],
    [499, 'warn'],
    [500, 'error'],
    [503, 'error'],
  ])('logs status %i as %s', (status, level) => {
    const { logger, lines } = memoryLog();
    logReporter(logger).report(new BaseException('text', status), context);
    expect(lines).toMatchObject([{ level, msg: 'text', statusCode: status, userId: 'u1' }]);
  });

  it('logs the stack with its causes of a fault, and none of a refusal', () => {
    const { logger, lines } = memoryLog();
    const cause = new Error('the root');
    logReporter(logger).report(new InternalServerErrorException('x', undefined, { cause }), context);
    logReporter(logger).report(new BadRequestException('x', undefined, { cause }), context);
    expect(lines[0]).toMatchObject({ error: { stack: expect.stringContaining('Caused by: Error: the root') } });
    expect(JSON.stringify(lines[1])).not.toContain('the root');
  });

  it('masks secrets in details and leaves out details without bound', () => {
    const { logger, lines } = memoryLog();
    const report = (details: unknown) => logReporter(logger).report(new BadRequestException('x', details), context);
    report({ password: 'hunter2' });
    report({ text: 'x'.repeat(5_000) });
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    report(cyclic);
    expect(lines.map(({ details }) => details)).toEqual([
      { password: '[redacted]' },
      'details left out: 5011 characters of JSON',
      'details left out: Infinity characters of JSON',
    ]);
  });

  it('works outside a request', () => {
    const { logger, lines } = memoryLog();
    logReporter(logger).report(new BadRequestException('x'), undefined);
    expect(lines).toHaveLength(1);
  });
});

describe('monitorReporter', () => {
  it('forwards only exceptions that are not operational, with the request context', () => {
    const captured: unknown[] = [];
    const reporter = monitorReporter({ capture: (...values) => void captured.push(values) });
    const fault = new InternalServerErrorException();
    reporter.report(new BadRequestException(), context);
    reporter.report(new DatabaseException(), context);
    reporter.report(fault, context);
    expect(captured).toEqual([[fault, context]]);
  });
});
