import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SocketMemory } from '../../../src/chassis/config/socket-memory.ts';

/** A process in a control group, which tells what it holds. */
function processIn(group: string, { limit = '268435456', stat = 'anon 1048576\nsock 65536\n' } = {}) {
  const groups = mkdtempSync(join(tmpdir(), 'slipway-groups-'));
  onTestFinished(() => rmSync(groups, { recursive: true }));
  const own = join(groups, 'own');
  const tell = (file: string, text: string) => writeFileSync(join(groups, group, file), text);
  mkdirSync(join(groups, group), { recursive: true });
  writeFileSync(own, `9:memory:/elsewhere\n0::${group}\n`);
  tell('memory.max', `${limit}\n`);
  tell('memory.stat', stat);
  return { memory: new SocketMemory(groups, own), tell };
}

it('SocketMemory tells what the kernel holds for the sockets of a control group now', () => {
  const { memory, tell } = processIn('/', {
    stat: 'anon 1048576\nfile 4096\nkernel 8192\nsock 65536\nvmalloc 0\nsock_other 1\n',
  });
  expect(memory.bytes).toBe(65_536);
  tell('memory.stat', 'anon 1048576\nfile 4096\nsock 536870912\n');
  expect(memory.bytes).toBe(536_870_912);
  expect(processIn('/system.slice/orders.service').memory.bytes).toBe(65_536);
});

it('SocketMemory tells of none where it counts to no limit, or the kernel does not tell', () => {
  expect(processIn('/', { limit: 'max' }).memory.bytes).toBe(0);
  expect(processIn('/', { stat: 'anon 1048576\n' }).memory.bytes).toBe(0);
  expect(new SocketMemory('/nowhere', '/proc/self/cgroup').bytes).toBe(0);
  expect(new SocketMemory('/sys/fs/cgroup', '/nowhere').bytes).toBe(0);
});
