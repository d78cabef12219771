import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { images } from '../../support/images.ts';
import { newAccount } from '../support/accounts.ts';
import { bootTestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({ env: { UPLOAD_MAX_BYTES: '5000', UPLOAD_TOTAL_BYTES: '10000' } });

it('forms that trickle in and keep all room of files give way to a file that waits for some', async () => {
  for (let index = 0; index < 2; index += 1) {
    const { path, tokens } = await newAccount(app);
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    const head = [
      `POST ${path}/avatar HTTP/1.1`,
      'Host: a',
      `Authorization: Bearer ${tokens.accessToken}`,
      'Content-Type: multipart/form-data; boundary=x',
      'Transfer-Encoding: chunked',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n3\r\n--x\r\n`);
  }
  await wait(300);
  const { path, client } = await newAccount(app);
  const began = performance.now();
  await client.upload(`${path}/avatar`, 'avatar', images.png(), 'a.png').expectData();
  expect(performance.now() - began).toBeLessThan(4000);
});
