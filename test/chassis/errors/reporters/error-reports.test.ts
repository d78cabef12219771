import { describe, expect, it } from 'vitest';
import { BusinessException } from '../../../../src/chassis/errors/exceptions.ts';
import { ErrorReports } from '../../../../src/chassis/errors/reporters/error-reports.ts';
import type { Reporter } from '../../../../src/chassis/errors/reporters/reporter.ts';
import { memoryLog } from '../../http/bare-app.ts';

type Report = Parameters<Reporter['report']>;

const request = { requestId: 'r-1', method: 'GET', url: '/a', startTime: new Date() };

describe('ErrorReports', () => {
  const { logger, lines } = memoryLog();
  const reports: Report[] = [];
  const keep: Reporter = { report: (...report) => void reports.push(report) };

  it.each([
    [new TypeError('a bug'), 'a bug'],
    [new BusinessException('a rule'), 'a rule'],
    ['a text', 'Internal Server Error'],
    [undefined, 'Internal Server Error'],
  ])('make a fault of %s, which monitors hear of', (error, message) => {
    new ErrorReports(logger, [keep]).report(error, request, { job: 'sweep', requestId: 'made up' });
    const [fault, context] = reports.pop() as Report;
    expect(fault).toMatchObject({ message, statusCode: 500, isOperational: false, cause: error ?? 'undefined' });
    expect(fault.context).toEqual({ job: 'sweep', requestId: 'r-1', method: 'GET', url: '/a' });
    expect(context).toBe(request);
  });

  it('tell those who were added later, and all whatever one of them does', () => {
    const errors = new ErrorReports(logger, [
      {
        report: () => {
          throw new Error('broken');
        },
      },
    ]);
    errors.addReporters([keep]);
    errors.report(new Error('x'), undefined);
    expect(reports.pop()?.[0].context).toEqual({});
    expect(lines.at(-1)).toMatchObject({ level: 'error', msg: 'reporter failed' });
  });
});
