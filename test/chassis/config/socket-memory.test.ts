import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { SocketMemory } from '../../../src/chassis/config/socket-memory.ts';

function groupThatTells(stat: string) {
  const group = mkdtempSync(join(tmpdir(), 'slipway-group-'));
  onTestFinished(() => rmSync(group, { recursive: true }));
  const tell = (text: string) => writeFileSync(join(group, 'memory.stat'), text);
  tell(stat);
  return { memory: new SocketMemory(group), tell };
}

it('SocketMemory tells what the kernel holds for the sockets of a control group now', () => {
  const { memory, tell } = groupThatTells(
    'anon 1048576\nfile 4096\nkernel 8192\nsock 65536\nvmalloc 0\nsock_other 1\n',
  );
  expect(memory.bytes).toBe(65_536);
  tell('anon 1048576\nfile 4096\nsock 536870912\n');
  expect(memory.bytes).toBe(536_870_912);
});

it('SocketMemory tells of none where the kernel does not, and outside of a container with a limit', () => {
  expect(groupThatTells('anon 1048576\n').memory.bytes).toBe(0);
  expect(new SocketMemory().bytes).toBeGreaterThanOrEqual(0);
});
