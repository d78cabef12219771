import { connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { connectOrm } from '../../../src/chassis/loaders/connect-orm.ts';
import { createService, type Service } from '../../../src/chassis/service.ts';
import { createLogger } from '../../../src/chassis/telemetry/logger.ts';
import { freePort } from '../../../src/chassis/testing/fake-peer.ts';
import { createTestDatabase } from '../../../src/chassis/testing/test-database.ts';
import { raised } from '../../support/raised.ts';

let service: Service;

afterEach(() => service.close());

const connect = () => service.run(connectOrm);

/** Sets the database and how long it is waited for; gives the messages of the log as they come. */
function useDatabase(url: string, timeoutMs: number, onMessage: (message: string) => void = () => undefined): string[] {
  const messages: string[] = [];
  const env = {
    NODE_ENV: 'test',
    DATABASE_MIGRATE: 'false',
    DATABASE_URL: url,
    DATABASE_CONNECT_TIMEOUT_MS: String(timeoutMs),
  };
  const destination = {
    write(line: string) {
      messages.push(JSON.parse(line).msg);
      onMessage(messages.at(-1) ?? '');
    },
  };
  const logger = createLogger({ level: 'info', pretty: false, destination });
  service = createService({ modules: [], server: { port: 0 } }, { env, logger });
  return messages;
}

describe('connectOrm', () => {
  it('opens nothing where DATABASE_URL is none, and who asks for a database hears why', async () => {
    const messages = useDatabase('none', 0);
    await connect();
    expect(messages).toEqual(['no database, because DATABASE_URL is none']);
    expect(() => service.database.client).toThrow('with DATABASE_URL=none, disable the modules that need a database');
  });

  it('waits for a database that cannot be reached and takes it when it is there', async () => {
    const port = await freePort();
    let forward: Server | undefined;
    const messages = useDatabase(urlAt(port), 20_000, (message) => {
      if (message === 'waiting for the database') forward ??= forwardToPostgres(port);
    });
    await connect();
    expect(service.database.provider).toBe('postgresql');
    expect(messages).toContain('waiting for the database');
    expect(messages.at(-1)).toBe('database connected');
    await service.close();
    forward?.close();
  });

  it('has those who ask for the database of a closed service hear that it is closed', async () => {
    const { url, remove } = await createTestDatabase();
    useDatabase(url, 0);
    await connect();
    await service.close();
    await remove();
    expect(() => service.database.client).toThrow('found one that is closed, because its service is closed');
  });

  it('gives up when the time is over, after more than one try', async () => {
    const messages = useDatabase(urlAt(await freePort()), 400);
    const error = await raised(connect);
    expect(error.message).toMatch(/No answer from the database at 127.0.0.1:\d+\/postgres/);
    expect(messages.filter((message) => message === 'waiting for the database').length).toBeGreaterThan(1);
    expect(messages.at(-1)).toBe('database connection failed');
  });

  it.each([
    ['a password', (url: URL) => Object.assign(url, { password: 'wrong' }), 'it refused the user or password'],
    ['a database', (url: URL) => Object.assign(url, { pathname: '/nowhere' }), 'it does not exist'],
  ])('does not wait where %s is wrong', async (_what, change, reason) => {
    const messages = useDatabase(change(new URL(inject('postgresUrl'))).href, 60_000);
    expect((await raised(connect)).message).toContain(reason);
    expect(messages).toEqual(['database connection failed']);
  });

  it('ends the wait when the service is closed', async () => {
    useDatabase(urlAt(await freePort()), 60_000, () => void service.close());
    expect(await raised(connect)).toMatchObject({ name: 'StartStoppedError' });
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
    const server = connectTo(Number(target), hostname);
    client.pipe(server).on('error', () => client.destroy());
    server.pipe(client).on('error', () => server.destroy());
  }).listen(port, '127.0.0.1');
}
