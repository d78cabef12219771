import { describe, expect, it } from 'vitest';
import { faultCulprit, faultFingerprint } from '../../../../src/chassis/telemetry/sentry/fault-fingerprint.ts';

function faultAt(line: number, message = 'no stock'): Error {
  const error = new RangeError(message);
  error.stack = [
    `RangeError: ${message}`,
    `    at StockService.take (/app/src/modules/orders/stock.service.ts:${line}:11)`,
    `    at async OrderService.place (/app/src/modules/orders/order.service.ts:${line + 40}:5)`,
    '    at processTicksAndRejections (node:internal/process/task_queues:105:5)',
  ].join('\n');
  return error;
}

describe('faultFingerprint', () => {
  it('stays when lines move and values of the message change', () => {
    const before = faultFingerprint([faultAt(12)], 'POST /orders');
    expect(before).toEqual(['RangeError', 'orders/stock.service.ts StockService.take', 'POST /orders']);
    expect(faultFingerprint([faultAt(93, 'no stock of 7')], 'POST /orders')).toEqual(before);
  });

  it('differs by class, place and route', () => {
    const of = (error: Error, route = 'POST /orders') => JSON.stringify(faultFingerprint([error], route));
    const elsewhere = Object.assign(faultAt(12), {
      stack: faultAt(12).stack?.replace('StockService.take', 'StockService.put'),
    });
    const all = [
      of(faultAt(12)),
      of(Object.assign(faultAt(12), { name: 'TypeError' })),
      of(elsewhere),
      of(faultAt(12), 'GET /orders'),
    ];
    expect(new Set(all)).toHaveProperty('size', 4);
  });
});

describe('faultCulprit', () => {
  it('is the line of the module that asked, where the chassis raised what a library did', () => {
    const error = faultAt(12);
    const stack = String(error.stack);
    const raised = `    at convertErrors (/app/src/chassis/database/client/convert-orm-errors.ts:72:14)\n${stack.slice(stack.indexOf('    at'))}`;
    error.stack = `RangeError: no stock\n    at Pool.query (/app/node_modules/pg-pool/index.js:45:11)\n${raised}`;
    expect(faultCulprit([error])).toBe('/app/src/modules/orders/stock.service.ts:12 in StockService.take');
    expect(faultFingerprint([error], 'GET /')[1]).toBe('orders/stock.service.ts StockService.take');
  });

  it('is a line of the chassis where no module has part in it, and nothing where nobody is known', () => {
    const inChassis = Object.assign(new Error('no'), {
      stack: 'Error: no\n    at open (/app/src/chassis/start.ts:3:1)',
    });
    expect(faultCulprit([inChassis])).toBe('/app/src/chassis/start.ts:3 in open');
    expect(faultCulprit([Object.assign(new Error('no'), { stack: 'Error: no' })])).toBeUndefined();
  });
});
