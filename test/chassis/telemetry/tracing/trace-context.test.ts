import { describe, expect, it } from 'vitest';
import {
  formatTraceParent,
  newTraceParent,
  parseTraceParent,
} from '../../../../src/chassis/telemetry/tracing/trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('parseTraceParent', () => {
  it.each([
    [`00-${traceId}-${spanId}-01`, true],
    [`00-${traceId}-${spanId}-00`, false],
    [`00-${traceId}-${spanId}-ff`, true],
    [`cc-${traceId}-${spanId}-01-what-the-future-will-be-like`, true],
  ])('reads %s', (header, sampled) => {
    expect(parseTraceParent(header)).toEqual({ traceId, spanId, sampled });
  });

  it.each([
    undefined,
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01 `,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-0`,
    `00-${traceId}\r\n-${spanId}-01`,
  ])('takes nothing of %j', (header) => {
    expect(parseTraceParent(header)).toBeUndefined();
  });
});

describe('newTraceParent', () => {
  it('makes ids that hold and never come twice, in a trace that nobody records', () => {
    const made = Array.from({ length: 2_000 }, newTraceParent);
    for (const parent of made)
      expect(parseTraceParent(formatTraceParent(parent))).toEqual({ ...parent, sampled: false });
    expect(new Set(made.flatMap(({ traceId: trace, spanId: span }) => [trace, span]))).toHaveProperty('size', 4_000);
  });
});
