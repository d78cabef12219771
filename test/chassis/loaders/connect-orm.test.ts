import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { readEnvironment } from '../../../src/chassis/config/environment.ts';
import { closeOrm, databaseProvider, orm } from '../../../src/chassis/database/client/orm.ts';
import { connectOrm } from '../../../src/chassis/loaders/connect-orm.ts';
import { createLogger, logger, setLogger } from '../../../src/chassis/telemetry/logger.ts';
import { freePort } from '../../support/free-port.ts';
import { raised } from '../../support/raised.ts';

const silent = logger();

afterEach(async () => {
  setLogger(silent);
  await closeOrm();
});

/** Sets the database and how long it is waited for; gives the messages of the log as they come. */
function useDatabase(url: string, timeoutMs: number, onMessage: (message: string) => void = () => undefined): string[] {
  const messages: string[] = [];
  const variables = { NODE_ENV: 'test', DATABASE_URL: url, DATABASE_CONNECT_TIMEOUT_MS: String(timeoutMs) };
  readEnvironment({}, { ...variables, DATABASE_MIGRATE: 'false' });
  const destination = {
    write(line: string) {
      messages.push(JSON.parse(line).msg);
      onMessage(messages.at(-1) ?? '');
    },
  };
  setLogger(createLogger({ level: 'info', pretty: false, destination }));
  return messages;
}

describe('connectOrm', () => {
  it('opens nothing where DATABASE_URL is none, and who asks for a database hears why', async () => {
    const messages = useDatabase('none', 0);
    await connectOrm();
    expect(messages).toEqual(['no database, because DATABASE_URL is none']);
    expect(() => orm()).toThrow('Expected an open database, found none. Set DATABASE_URL');
  });

  it('waits for a database that cannot be reached and takes it when it is there', async () => {
    const port = await freePort();
    let forward: Server | undefined;
    const messages = useDatabase(urlAt(port), 20_000, (message) => {
      if (message === 'waiting for the database') forward ??= forwardToPostgres(port);
    });
    await connectOrm();
    expect(databaseProvider()).toBe('postgresql');
    expect(messages).toContain('waiting for the database');
    expect(messages.at(-1)).toBe('database connected');
    await closeOrm();
    forward?.close();
  });

  it('gives up when the time is over, after more than one try', async () => {
    const messages = useDatabase(urlAt(await freePort()), 400);
    const error = await raised(() => connectOrm());
    expect(error.message).toMatch(/No answer from the database at 127.0.0.1:\d+\/postgres/);
    expect(messages.filter((message) => message === 'waiting for the database').length).toBeGreaterThan(1);
    expect(messages.at(-1)).toBe('database connection failed');
  });

  it.each([
    ['a password', (url: URL) => Object.assign(url, { password: 'wrong' }), 'it refused the user or password'],
    ['a database', (url: URL) => Object.assign(url, { pathname: '/nowhere' }), 'it does not exist'],
  ])('does not wait where %s is wrong', async (_what, change, reason) => {
    const messages = useDatabase(change(new URL(inject('postgresUrl'))).href, 60_000);
    expect((await raised(() => connectOrm())).message).toContain(reason);
    expect(messages).toEqual(['database connection failed']);
  });

  it('ends the wait with the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    useDatabase(urlAt(await freePort()), 60_000, () => stop.abort(reason));
    expect(await raised(() => connectOrm(stop.signal))).toBe(reason);
  });
});

/** The server's maintenance database, by another port. */
function urlAt(port: number): string {
  return Object.assign(new URL(inject('postgresUrl')), { hostname: '127.0.0.1', port: String(port) }).href;
}

/** Another port of the same PostgreSQL server. */
function forwardToPostgres(port: number): Server {
  const { hostname, port: target } = new URL(inject('postgresUrl'));
  return createServer((client: Socket) => {
    const server = connect(Number(target), hostname);
    client.pipe(server).on('error', () => client.destroy());
    server.pipe(client).on('error', () => server.destroy());
  }).listen(port, '127.0.0.1');
}
