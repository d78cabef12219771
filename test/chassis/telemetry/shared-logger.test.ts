import { expect, it } from 'vitest';
import { createService, maskInLogs } from '../../../src/chassis/index.ts';
import { memoryLog } from '../http/bare-app.ts';

const env = { NODE_ENV: 'test', DATABASE_URL: 'none', HOST: '127.0.0.1', PORT: '0', INTERNAL_PORT: '0' };

it('a logger that two services share masks the secrets of both in the lines of each, also after the end of one', async () => {
  const { logger, lines } = memoryLog('info');
  const make = () => createService({ modules: [], server: { port: 0 } }, { env, logger });
  const [one, two] = [make(), make()];
  one.run(() => maskInLogs('iban'));
  two.run(() => maskInLogs('phone'));
  const write = () => {
    one.run(() => one.logger.info({ iban: 'a', phone: 'b', city: 'c' }, 'of one'));
    two.run(() => two.logger.child({ iban: 'a' }).info({ phone: 'b', city: 'c' }, 'of two'));
  };
  const masked = { iban: '[redacted]', phone: '[redacted]', city: 'c' };
  write();
  expect((await one.close()).failure).toBeUndefined();
  write();
  await two.close();
  const written = lines.filter(({ msg }) => /^of (one|two)$/.test(String(msg)));
  expect(written).toMatchObject([masked, masked, masked, masked]);
});
