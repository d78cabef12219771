import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { environmentSchema, readEnvironment } from '../../src/chassis/config/environment.ts';
import {
  examples,
  type Manifest,
  objects,
  read,
  readYaml,
  refusal,
  render,
  skipped,
  template,
  type Values,
} from './chart.ts';

/** As a module of a service has them. */
const authSettings = { AUTH_JWT_SECRET: z.string().min(32).meta({ secret: true, requiredInProduction: true }) };
const settings = { ...environmentSchema.shape, ...authSettings };

/** What others read: Node, and the value of OTEL_RESOURCE_ATTRIBUTES. */
const otherNames = ['NODE_OPTIONS', 'POD_NAME', 'POD_UID', 'NODE_NAME'];

/** What Secrets hold that are not the chart's. */
const elsewhere: Record<string, string> = {
  DATABASE_URL: 'postgresql://orders:secret@postgres:5432/orders',
  DATABASE_READ_URL: 'postgresql://orders:secret@postgres-replica:5432/orders',
  REDIS_URL: 'redis://redis:6379',
  EVENTS_NATS_URL: 'nats://orders:secret@nats:4222',
  UPLOAD_S3_SECRET_ACCESS_KEY: 'the-secret@s3',
  INTERNAL_TOKEN: 'a-token-of-sixteen-bytes',
  SENTRY_DSN: 'https://key@sentry.example.com/1',
  AUTH_JWT_SECRET: 'a-secret-of-at-least-thirty-two-bytes',
  CURSOR_SECRET: 'another-secret-of-thirty-two-bytes-or-more',
};

const { AUTH_JWT_SECRET, CURSOR_SECRET } = elsewhere;
const secrets = { AUTH_JWT_SECRET, CURSOR_SECRET };

const releases = [{ name: 'no', values: {}, options: [] as string[] }].concat(
  examples.map(({ name, file }) => ({ name, values: parse(readFileSync(file, 'utf8')), options: ['-f', file] })),
);

/** The containers that run the service or migrate. */
function ownContainers(made: Manifest[]): Manifest[] {
  const pods = made.flatMap(({ spec }) => spec?.template?.spec ?? []);
  const containers = pods.flatMap(({ initContainers = [], containers: running }) => [...initContainers, ...running]);
  return containers.filter(({ name }) => /^(service|migrate)$/.test(name));
}

/** The environment that a container of these objects starts with: what envFrom names, then what env does. */
function environmentOf(container: Manifest, made: Manifest[]): Record<string, string> {
  const dataOf = (kind: string, name: string): Record<string, string> => {
    const { data = {} } = made.find((object) => object.kind === kind && object.metadata.name === name) ?? {};
    const decoded = ([key, text]: [string, string]) => [key, Buffer.from(text, 'base64').toString()];
    return kind === 'Secret' ? Object.fromEntries(Object.entries<string>(data).map(decoded)) : data;
  };
  const found: Record<string, string> = {};
  for (const { configMapRef, secretRef } of container.envFrom ?? [])
    Object.assign(found, configMapRef ? dataOf('ConfigMap', configMapRef.name) : dataOf('Secret', secretRef.name));
  for (const { name, value, valueFrom } of container.env) {
    const { name: secret, key } = valueFrom?.secretKeyRef ?? {};
    found[name] = value ?? dataOf('Secret', secret)[key] ?? elsewhere[name] ?? 'a-value';
  }
  const expand = (text: string) => text.replaceAll(/\$\((\w+)\)/g, (_, name) => found[name] ?? '');
  return Object.fromEntries(Object.entries(found).map(([name, text]) => [name, expand(text)]));
}

/** The variables of a container that nothing reads, beside those that `env` of the values names. */
function unknownNames(variables: Record<string, string>, { env = [] }: { env?: { name: string }[] }): string[] {
  const known = [...Object.keys(settings), ...otherNames, ...env.map(({ name }) => name)];
  return Object.keys(variables).filter((name) => !known.includes(name));
}

describe.skipIf(skipped('helm'))(`the variables that the chart writes${skipped('helm')}`, () => {
  it.each(releases)('are settings of the service, with values that it takes: $name values', ({ values, options }) => {
    const made = objects(template({}, ...options));
    expect(ownContainers(made)).not.toEqual([]);
    for (const container of ownContainers(made)) {
      const variables = environmentOf(container, made);
      expect(unknownNames(variables, values)).toEqual([]);
      const migrates = container.name === 'migrate';
      const read = () =>
        migrates
          ? readEnvironment({}, variables, 'command')
          : readEnvironment(authSettings, { ...secrets, ...variables });
      expect(read()).toMatchObject({ NODE_ENV: 'production' });
    }
  });

  it('are looked at by name and by value', () => {
    const environment = (values: Values) => {
      const made = render(values);
      return environmentOf(ownContainers(made)[0], made);
    };
    expect(unknownNames(environment({ config: { LOG_LEVLE: 'debug' } }), {})).toEqual(['LOG_LEVLE']);
    const misspelt = environment({ config: { LOG_LEVEL: 'loud' } });
    expect(() => readEnvironment(authSettings, misspelt)).toThrow('LOG_LEVEL: expected trace');
  });
});

describe.skipIf(skipped('helm'))(`the checks of values${skipped('helm')}`, () => {
  const accepted = (values: Values) => {
    try {
      return render(values).length > 0;
    } catch {
      return false;
    }
  };

  it('know the longest drain that the service takes', () => {
    const { maximum } = JSON.parse(read('values.schema.json')).properties.shutdown.properties.drainSeconds;
    const taken = [maximum, maximum + 1].map(
      (seconds) => settings.SHUTDOWN_DEADLINE_MS.safeParse(String(1000 * seconds)).success,
    );
    expect(taken).toEqual([true, false]);
  });

  it('let no secret of the service into a ConfigMap, and everything else', () => {
    const config = Object.fromEntries(Object.keys(settings).map((name) => [name, 'x']));
    const text = refusal({ config });
    const refusedName = (name: string) => new RegExp(`^ +- config\\.${name}[: ].*$`, 'm').exec(text)?.[0] ?? '';
    const free = Object.keys(settings).filter((name) => !/is (always|set|derived|the name)/.test(refusedName(name)));
    const secret = free.filter((name) => settings[name as keyof typeof settings].meta()?.['secret'] === true);
    // An address is refused by its password, not by its name.
    const refused = free.filter((name) => refusedName(name).includes('looks like a secret'));
    expect(refused.toSorted()).toEqual(secret.filter((name) => !name.endsWith('_ENDPOINT')).toSorted());
    expect(refused).toContain('OTEL_EXPORTER_OTLP_HEADERS');
    for (const name of ['SMTP_PASS', 'MYSQL_PWD', 'OTHER_DSN'])
      expect(refusal({ config: { [name]: 'x' } })).toContain(`config.${name} looks like a secret`);
  });

  it.each([
    ...['https://key@host/1', 'http://key:old@host:9000/sentry/1', 'https://key@[::1]/1'].map((text) => [text, true]),
    ...['https://a-b@host/1', 'https://key@host/name', 'https://host/1'].map((text) => [text, false]),
  ] as [text: string, taken: boolean][])('take the DSN %s as the service does: %s', (dsn, taken) => {
    expect([settings.SENTRY_DSN.safeParse(dsn).success, accepted({ sentry: { dsn } })]).toEqual([taken, taken]);
  });

  it.each([
    ...['false', '2', '10.0.0.0/8, ::1', 'loopback,192.0.2.1'].map((text) => [text, true]),
    ...['TRUE', '100', 'proxy', '10.0.0.1;10.0.0.2'].map((text) => [text, false]),
  ] as [text: string, taken: boolean][])('take the proxies %s as the service does: %s', (trustProxy, taken) => {
    expect([settings.TRUST_PROXY.safeParse(trustProxy).success, accepted({ trustProxy })]).toEqual([taken, taken]);
  });

  it.each([
    ...['http://collector:4318', 'https://collector/otlp'].map((text) => [text, true]),
    ...['http:///x', 'http://a b', 'collector:4318'].map((text) => [text, false]),
  ] as [text: string, taken: boolean][])('take the collector %s as the service does: %s', (otlpEndpoint, taken) => {
    const service = settings.OTEL_EXPORTER_OTLP_ENDPOINT.safeParse(otlpEndpoint).success;
    expect([service, accepted({ telemetry: { otlpEndpoint } })]).toEqual([taken, taken]);
  });
});

describe('the values of settings that are numbers', () => {
  const { properties } = JSON.parse(read('values.schema.json'));
  const numbers = [
    ['database.poolSize', 'DATABASE_POOL_SIZE'],
    ...[...read('values.yaml').matchAll(/# -- ([A-Z_]+): .*\n +(\w+): null/g)]
      .filter(([, , key]) => key !== 'enabled')
      .map(([, name = '', key]) => [`${name.startsWith('RATE') ? 'rateLimit' : 'overload'}.${key}`, name]),
  ] as [path: string, name: keyof typeof settings][];

  it.each(numbers)('%s has the bounds of %s', (path, name) => {
    const [group = '', key = ''] = path.split('.');
    expect(readYaml('values.yaml')[group]).toHaveProperty(key);
    const { minimum, maximum } = properties[group].properties[key];
    const taken = (value: number) => settings[name].safeParse(String(value)).success;
    expect([minimum - 1, minimum, maximum, maximum + 1].map(taken)).toEqual([false, true, true, false]);
  });
});
