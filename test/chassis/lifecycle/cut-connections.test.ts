import { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectionCutter } from '../../../src/chassis/lifecycle/cut-connections.ts';
import { ConnectionMetrics } from '../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { memoryLog } from '../http/bare-app.ts';

afterEach(() => void vi.useRealTimers());

describe('connectionCutter', () => {
  it('logs one line for each reason within ten seconds, with how many were cut since the last', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { logger, lines } = memoryLog();
    const cut = connectionCutter({ logger, metrics: new ConnectionMetrics() });
    const cutOne = (reason: Parameters<typeof cut>[1]) =>
      cut(
        new Socket().on('error', () => undefined),
        reason,
      );

    for (const reason of ['stalled', 'stalled', 'memory', 'stalled'] as const) cutOne(reason);
    expect(lines).toMatchObject([
      { reason: 'stalled', cut: 1 },
      { reason: 'memory', cut: 1 },
    ]);

    vi.advanceTimersByTime(10_000);
    cutOne('stalled');
    expect(lines.slice(2)).toMatchObject([{ reason: 'stalled', cut: 3 }]);
  });
});
