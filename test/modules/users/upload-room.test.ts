import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { images } from '../../support/images.ts';
import { newAccount } from '../support/accounts.ts';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';

const app = await bootTestApp({ env: { UPLOAD_MAX_BYTES: '5000', UPLOAD_TOTAL_BYTES: '10000' } });
const roomy = await bootTestApp({ env: { UPLOAD_MAX_BYTES: '2000000', UPLOAD_TOTAL_BYTES: '8000000' } });

/** Sends the head of a form of unknown length, and the first bytes of its body. */
async function beginForm(to: TestApp, localAddress = '127.0.0.1'): Promise<Socket> {
  const { path, tokens } = await newAccount(to);
  const socket = connect({ port: Number(new URL(to.url).port), host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  const head = [
    `POST ${path}/avatar HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${tokens.accessToken}`,
    'Content-Type: multipart/form-data; boundary=x',
    'Transfer-Encoding: chunked',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${chunk('--x\r\n')}`);
  return socket;
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Has a picture stored, and tells how long that took, in milliseconds. */
async function timeOfPicture(to: TestApp): Promise<number> {
  const { path, client } = await newAccount(to);
  const began = performance.now();
  await client.upload(`${path}/avatar`, 'avatar', images.png(), 'a.png').expectData();
  return performance.now() - began;
}

it('forms that trickle in and keep all room of files give way to a file that waits for some', async () => {
  for (let index = 0; index < 2; index += 1) await beginForm(app);
  await wait(300);
  expect(await timeOfPicture(app)).toBeLessThan(4000);
});

it('several forms of each of two addresses, as fast as they may be, give way to the first file of another', async () => {
  const forms: Socket[] = [];
  // There is room for four, and the others wait for theirs.
  for (let index = 0; index < 8; index += 1) forms.push(await beginForm(roomy, `127.0.8.${1 + (index % 2)}`));
  const send = (text: string) => {
    for (const form of forms) form.write(chunk(text));
  };
  send('Content-Disposition: form-data; name="avatar"; filename="a.gif"\r\n\r\nGIF89a');
  const sending = setInterval(() => send('x'.repeat(40_000)), 250);
  onTestFinished(() => clearInterval(sending));
  await wait(300);
  expect(await timeOfPicture(roomy)).toBeLessThan(4000);
});
