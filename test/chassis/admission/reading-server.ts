import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { FairReading, mostTurnMs } from '../../../src/chassis/admission/fair-reading.ts';
import { LoopWait } from '../../../src/chassis/admission/standing-wait.ts';
import { listening } from '../http/listening.ts';

export const crowd = '127.0.0.2';
export const other = '127.0.0.3';
export const proxy = '127.0.0.4';
export const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
export const getFor = (client: string) => `GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${client}\r\n\r\n`;
export const workMs = 2;

/** A server that works for some milliseconds on each request, and how many it had in each turn of the event loop; by default it takes many further connections. */
export async function serve({ areFewLeft = false } = {}) {
  const loop = new LoopWait();
  const reading = new FairReading();
  const turns: Record<string, number>[] = [];
  const waits: { address: string; unreadMs: number }[] = [];
  let turn: Record<string, number> | undefined;
  const server = createServer((req, res) => {
    const began = performance.now();
    loop.at(began);
    const address = String(req.headers['x-forwarded-for'] ?? req.socket.remoteAddress);
    waits.push({ address, unreadMs: reading.unreadMs(req.socket) });
    reading.follow(req.socket, address);
    if (reading.areShared) res.once('close', () => reading.answered(req.socket));
    if (began - loop.beganAt > mostTurnMs) reading.spare(req.socket, loop.beganAt, began);
    if (turn === undefined) {
      turn = {};
      turns.push(turn);
      setImmediate(() => {
        turn = undefined;
      });
    }
    turn[address] = (turn[address] ?? 0) + 1;
    while (performance.now() - began < workMs);
    res.end('fine');
  });
  reading.watch(
    server,
    (address) => address === proxy,
    () => areFewLeft,
  );
  const accepted: Socket[] = [];
  server.on('connection', (socket: Socket) => accepted.push(socket));
  const { port } = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  /** @param request which each of them sends and has answered; null for none */
  const open = async (localAddress: string, count: number, request: string | null = get) => {
    const known = accepted.length;
    const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1', localAddress }));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    if (request !== null) for (const socket of sockets) await answered(socket, request);
    while (accepted.length < known + count) await new Promise((resolve) => setImmediate(resolve));
    turns.length = 0;
    return sockets;
  };
  return { accepted, open, port, reading, turns, waits };
}

export async function answered(socket: Socket, request = get): Promise<void> {
  socket.write(request);
  await once(socket, 'data');
}

export const all = (sockets: readonly Socket[], request?: string) =>
  Promise.all(sockets.map((socket) => answered(socket, request)));
export const longestWait = (waits: readonly { address: string; unreadMs: number }[], of: string) =>
  Math.max(...waits.filter(({ address }) => address === of).map(({ unreadMs }) => unreadMs));
