import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { read, root } from '../house/repository.ts';

it('payments of load tests in a cluster are taken once for each reference, as its pod is written', async () => {
  const [pod] = parseAllDocuments(read('helm/e2e/payments.yaml')).map((document) => document.toJS());
  const [{ command, args, ports }] = pod.spec.containers;
  const port = await freePort();
  const program = (args as string[]).map((text) =>
    text
      .replace('/payments/payment-provider.ts', join(root, 'load-tests/servers/payment-provider.ts'))
      .replace(`'0.0.0.0', port: ${ports[0].containerPort}`, `'127.0.0.1', port: ${port}`),
  );
  const child = spawn(process.execPath, [...(command as string[]).slice(1), ...program], { stdio: 'inherit' });
  try {
    const charge = (amount: number) =>
      fetch(`http://127.0.0.1:${port}/charges`, { method: 'POST', body: JSON.stringify({ reference: 'one', amount }) });
    const taken = { reference: 'one', amount: 5, status: 'succeeded' };
    await expect.poll(() => charge(5).then((answer) => answer.json())).toEqual(taken);
    expect(await (await charge(7)).json()).toEqual(taken);
  } finally {
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
  }
});
