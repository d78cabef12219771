import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectionCutter } from '../../../src/chassis/lifecycle/cut-connections.ts';
import { ConnectionMetrics } from '../../../src/chassis/telemetry/metrics/connection-metrics.ts';
import { memoryLog } from '../http/bare-app.ts';

afterEach(() => void vi.useRealTimers());

describe('connectionCutter', () => {
  it('logs one line for each reason within ten seconds, with how many were cut since the last', () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
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
    expect(lines.slice(2)).toMatchObject([{ reason: 'stalled', cut: 2 }]);
  });

  it('resets a connection with an unread answer, so that the kernel keeps nothing of it either', async () => {
    const cut = connectionCutter({ logger: memoryLog().logger, metrics: new ConnectionMetrics() });
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    const failed = new Promise((resolve) => client.once('error', resolve).once('end', () => resolve('whole')));
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.on('error', () => undefined).write(Buffer.alloc(64 * 1_048_576));

    const closed = new Promise((resolve) => socket.once('close', resolve));
    cut(socket, 'stalled');
    await closed;
    client.resume();
    expect(await failed).toMatchObject({ code: 'ECONNRESET' });
    expect(socket.errored).toMatchObject({ reason: 'stalled' });
    server.close();
  });
});
