import { expect, it } from 'vitest';
import { withoutEngines } from '../../../../src/chassis/cli/service/install-packages.ts';

it('the lock file of a service asks no other Node of npm than the service itself does', () => {
  const engines = { node: '>=20' };
  const lock = (entry: object) => ({ packages: { '': { engines }, 'node_modules/a': { version: '1.0.0', ...entry } } });
  const text = withoutEngines(JSON.stringify(lock({ engines: { node: '>=22.15.0' } })));
  expect(JSON.parse(text)).toEqual(lock({}));
  expect(withoutEngines(text)).toBe(text);
});
