import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apiReport } from './api-report.ts';
import { root } from './repository.ts';

it('docs/reference/api.md says what the package exports: a change of it is a change for every service', async () => {
  await expect(apiReport()).toMatchFileSnapshot(join(root, 'docs/reference/api.md'));
}, 240_000);
