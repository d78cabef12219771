import { expect, it } from 'vitest';
import { ReplicaLag } from '../../../../src/chassis/database/replica/replica-lag.ts';

it('is the time for which a replica has lacked the oldest of what it has not replayed', () => {
  const lag = new ReplicaLag();
  expect(lag.seconds(5000)).toBe(0);
  lag.primaryAt(10n, 1000);
  lag.primaryAt(20n, 2000);
  lag.primaryAt(30n, 3000);
  expect(lag.seconds(5000)).toBe(4);
  lag.replicaAt(20n);
  expect(lag.seconds(5000)).toBe(2);
  lag.replicaAt(30n);
  expect(lag.seconds(9000)).toBe(0);
});

it('is that of the first hour where a replica reaches nothing for longer, and starts anew once it does', () => {
  const lag = new ReplicaLag();
  for (let second = 0; second < 10_000; second += 1) lag.primaryAt(BigInt(second + 1), second * 1000);
  expect(lag.seconds(10_000_000)).toBe(10_000);
  lag.replicaAt(10_000n);
  expect(lag.seconds(10_000_000)).toBe(0);
});
