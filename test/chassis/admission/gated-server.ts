import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Express, Response } from 'express';
import { AdmissionGate } from '../../../src/chassis/admission/admission.ts';
import type { ClientShares, Standing } from '../../../src/chassis/admission/client-shares.ts';
import { bodyParser } from '../../../src/chassis/http/bodies/body-parser.ts';
import { requestListener, requestPipeline } from '../../../src/chassis/http/pipeline/request-pipeline.ts';
import { bareApp, memoryLog } from '../http/bare-app.ts';
import { listening } from '../http/listening.ts';

/** Waits that a test names, and clients told apart by a header. */
export interface Situation {
  /** How long a request waits now, and how long all have waited of late; in milliseconds. */
  waitMs?: number;
  /** What a request of any client waits whose turns take turns with those of others; the same by default. */
  clientMs?: number;
  standingMs?: number;
  overloaded?: boolean;
  /** How long connections of the client wait to be read, in milliseconds; by default all are read. */
  unreadMs?: number;
  /** How long the turn of the event loop has taken, in milliseconds. */
  turnMs?: number;
  maximum?: number;
  production?: boolean;
  standings?: Record<string, Standing>;
  /** What each client's work has cost; by default what `standings` says. */
  shares?: ClientShares;
  /** Has every request wait in a backlog for this time, as it is told; in milliseconds. */
  waitedMs?: number;
  /** When its turn comes; at once by default. */
  turn?: Promise<void>;
}

/** A server that works on one request at a time; `/hold` is answered by the test. */
export async function oneAtATime(situation: Situation = {}) {
  const { logger, lines } = memoryLog();
  const shed: string[] = [];
  const charged: [client: string, cost: number][] = [];
  const spared: Socket[] = [];
  const waits = {
    targetMs: 500,
    look: () => undefined,
    get currentMs() {
      return situation.waitMs ?? 0;
    },
    clientMs: () => situation.clientMs ?? situation.waitMs ?? 0,
    get standingMs() {
      return situation.standingMs ?? 0;
    },
    get overloaded() {
      return situation.overloaded ?? false;
    },
  };
  const gate = new AdmissionGate({
    waits,
    shares: {
      charge: (client, cost, now) => {
        charged.push([client, cost]);
        situation.shares?.charge(client, cost, now);
      },
    },
    standings: {
      of: (client, now) => situation.shares?.of(client, now) ?? situation.standings?.[client] ?? 'even',
    },
    backlog: {
      delays: () => situation.waitedMs !== undefined || situation.turn !== undefined,
      add: ({ begin }) => {
        const beginNow = () => begin(situation.waitedMs ?? 0);
        if (situation.turn === undefined) beginNow();
        else void situation.turn.then(beginNow);
      },
      overtake: (begin) => begin(),
    },
    loop: {
      get beganAt() {
        return performance.now() - (situation.turnMs ?? 0);
      },
    },
    reading: {
      hasProxies: false,
      areShared: false,
      answered: () => undefined,
      follow: () => undefined,
      spare: (socket) => void spared.push(socket),
      get holdsBack() {
        return situation.unreadMs !== undefined;
      },
      unreadMs: () => situation.unreadMs ?? 0,
    },
    maximum: situation.maximum ?? 1,
    clientOf: ({ headers }) => String(headers['x-client']),
    logger,
    metrics: { shed: (reason) => void shed.push(reason) },
    production: situation.production ?? false,
    keepAliveMs: 65_000,
  });
  const held: Response[] = [];
  const arrivals: (() => void)[] = [];
  const app = bareApp([
    requestPipeline(),
    bodyParser({ limitBytes: 100 }),
    (req, res) => {
      if (req.path !== '/hold') return void res.json({ ok: true });
      held.push(res);
      arrivals.shift()?.();
    },
  ]);
  const server = await listening(createServer(requestListener(app as Express, { logger, admits: gate.admit })));
  const url = `http://127.0.0.1:${server.port}`;
  const hold = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrivals.push(resolve);
    const answer = fetch(`${url}/hold`);
    await promise;
    return { answer, release: () => held.shift()?.json({ ok: true }) };
  };
  const status = async (headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;
  return Object.assign(server, { url, gate, hold, status, shed, charged, spared, lines });
}
