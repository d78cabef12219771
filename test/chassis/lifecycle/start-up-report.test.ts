import { describe, expect, it } from 'vitest';
import { StartUpReport } from '../../../src/chassis/lifecycle/start-up-report.ts';
import { bootTestApp } from '../../support/boot-test-app.ts';
import { memoryLog } from '../http/bare-app.ts';

const settings = [
  { name: 'AUTH_ACCESS_TOKEN_TTL_SECONDS', value: 900, from: 'environment' as const },
  { name: 'DATABASE_URL', value: 'file:./data/slipway.db', from: 'default' as const },
  { name: 'PAGER_TOKEN', value: 'hunter2', from: 'environment' as const },
  { name: 'PAGER_URL', value: 'https://me:hunter2@pager.test', from: 'file' as const },
  { name: 'PAGER_TOKENS', value: ['hunter2', 'hunter3'], from: 'environment' as const },
  { name: 'PAGER_URLS', value: ['https://me:hunter2@pager.test', 'b'], from: 'environment' as const },
  {
    name: 'PAGER',
    value: { url: new URL('https://me:hunter2@pager.test/'), apiKey: 'hunter2', most: 5n },
    from: 'file' as const,
  },
];
const summary = { apiPage: 'http://a/api-docs' };
const parts = { urls: ['http://a'], internalUrl: 'http://b', telemetry: {}, settings, summary };

describe('the closing line of a start', () => {
  it('shows numbers and defaults whatever their names, and no text that a module forgot to name secret', () => {
    const { logger, lines } = memoryLog();
    new StartUpReport(logger, { forPeople: false }).log(parts);
    expect(lines).toMatchObject([
      {
        settings: [
          { value: 900 },
          { value: 'file:./data/slipway.db' },
          { value: '[redacted]' },
          { value: 'https://[redacted]@pager.test' },
          { value: '[redacted]' },
          { value: ['https://[redacted]@pager.test', 'b'] },
          { value: { url: 'https://[redacted]@pager.test/', apiKey: '[redacted]', most: '5' } },
        ],
      },
    ]);
  });

  it('tells a person what to open, and the rest at debug', () => {
    const { logger, lines } = memoryLog();
    const report = new StartUpReport(logger, { forPeople: true });
    report.step({}, 'a step');
    report.notes.demoAccount = 'someone';
    report.log(parts);
    const [line] = lines.filter(({ level }) => level === 'info');
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'info', 'debug']);
    expect(line).toMatchObject({ msg: 'ready at http://a', demoAccount: 'someone', apiPage: 'http://a/api-docs' });
    expect(line).not.toHaveProperty('settings');
    expect(lines.filter(({ msg }) => msg === 'ready at http://a')).toHaveLength(1);
  });
});

describe('a start in development', () => {
  it('says on its own what a person needs, in one line of the log', async () => {
    const { logger, lines } = memoryLog('info');
    const app = await bootTestApp({ env: { NODE_ENV: 'development', DATABASE_SEED: 'small' }, logger });
    expect((await fetch(`${app.url}/api-docs.json`)).status).toBe(200);
    const said = lines.filter(({ route }) => route === undefined);
    expect(said.map(({ msg }) => msg)).toEqual([expect.stringMatching(/^ready at http/)]);
    const summary = ['demoAccount', 'apiPage', 'internal', 'database', 'off'];
    expect(Object.keys(said[0] ?? {})).toEqual(expect.arrayContaining(summary));
  });
});

describe('the closing line of a start with failures', () => {
  const failures = ['di', 'order.routes'].map((file) => ({
    ...{ loader: 'loadDI' as const, module: 'orders', file },
    error: new Error(`no ${file}`),
  }));
  const linesFor = (forPeople: boolean) => {
    const { logger, lines } = memoryLog();
    const report = new StartUpReport(logger, { forPeople });
    for (const failure of failures) report.addFailure(failure);
    report.log(parts);
    return lines.filter(({ level }) => level === 'error');
  };
  const msg = 'started, not ready: 2 files of modules failed to load';

  it('is one message for a person, which lists every problem and nothing else', () => {
    const [line, ...more] = linesFor(true);
    expect(more).toEqual([]);
    expect(line?.msg).toBe(`${msg}\n  - orders/di: no di\n  - orders/order.routes: no order.routes`);
    for (const field of ['settings', 'routes', 'telemetry', 'failures']) expect(line).not.toHaveProperty(field);
  });

  it('is the whole report elsewhere', () => {
    expect(linesFor(false)).toMatchObject([
      { msg, failures: [{ error: 'no di' }, { error: 'no order.routes' }], settings: expect.any(Array) },
    ]);
  });
});

describe('a variable that is probably a misspelt setting', () => {
  it('is a warning that names it and what was meant, also where that is the name of a secret', () => {
    const { logger, lines } = memoryLog();
    const misspelt = [{ name: 'AUTH_JWT_SECERT', meant: 'AUTH_JWT_SECRET' }];
    new StartUpReport(logger, { forPeople: true }).misspelt(misspelt);
    expect(lines).toMatchObject([
      {
        level: 'warn',
        msg: 'unknown variable AUTH_JWT_SECERT, AUTH_JWT_SECRET was probably meant',
        variable: 'AUTH_JWT_SECERT',
        meant: 'AUTH_JWT_SECRET',
      },
    ]);
  });
});
