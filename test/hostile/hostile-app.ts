import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { bootTestApp, type TestApp } from '../support/boot-test-app.ts';

interface HostileApp {
  app: TestApp;
  port: number;
  internalPort: number;
  /** What was answered with 500 or more. */
  faults: string[];
}

/** The real application with short times for clients that send slowly, and the reports of all its failures. */
export async function hostileApp(env: Record<string, string> = {}): Promise<HostileApp> {
  const faults: string[] = [];
  const app = await bootTestApp({
    env: { HTTP_HEADERS_TIMEOUT_MS: '300', HTTP_RECEIVE_TIMEOUT_MS: '600', BODY_LIMIT_BYTES: '100000', ...env },
    reporters: [{ report: ({ statusCode, message }) => void (statusCode >= 500 && faults.push(message)) }],
  });
  const [port, internalPort] = [app.url, app.internalUrl].map((url) => Number(new URL(url).port)) as [number, number];
  return { app, port, internalPort, faults };
}

/** Everything that comes back for these bytes until the service closes the connection; the client says no more. */
export async function raw(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  // A service that closes before all has been read resets the connection.
  socket.on('error', () => socket.destroy());
  socket.write(bytes);
  return text(socket).catch(() => '');
}

/** Status codes of all answers in what came back. */
export function statuses(answer: string): number[] {
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
}

/** Expects a 4xx in the one error body, or a closed socket without an answer. */
export function expectTurnedAway(answer: string): void {
  expect(statuses(answer).filter((status) => status < 400 || status >= 500)).toEqual([]);
  if (answer === '') return;
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({ success: false });
}
