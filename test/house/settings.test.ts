import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { derivedDefaults } from '../../src/chassis/config/chassis-settings.ts';
import { environmentSchema } from '../../src/chassis/config/environment.ts';
import { hasSample, read, root } from './repository.ts';

/** The settings of the chassis, then those of each module's *.config.ts. */
const shape: Record<string, z.ZodType> = { ...environmentSchema.shape, ...(await moduleSettings()) };

async function moduleSettings(): Promise<Record<string, z.ZodType>> {
  const files = globSync('src/modules/*/*.config.ts', { cwd: root }).toSorted();
  const loaded = await Promise.all(files.map((file) => import(pathToFileURL(join(root, file)).href)));
  const shapes = loaded.flatMap((exports: Record<string, unknown>) =>
    Object.entries(exports).filter(([name]) => name.endsWith('Settings')),
  );
  return Object.assign({}, ...shapes.map(([, settings]) => settings));
}

/** The text of a default, in one state of NODE_ENV; nothing where there is none. */
function defaultIn(name: string, NODE_ENV: string): string {
  const derived = derivedDefaults[name]?.({ NODE_ENV });
  if (derived !== undefined) return derived;
  const [one, other] = [shape[name]?.safeParse(undefined), shape[name]?.safeParse(undefined)];
  if (!one?.success || one.data === undefined) return '';
  return String(one.data) === String(other?.data) ? String(one.data) : 'random';
}

function settingsTable(): string {
  const rows = Object.entries(shape).map(([name, type]) => {
    const derived = type.meta()?.['derived'];
    if (derived !== undefined) return `| \`${name}\` | ${derived} | ${type.description} |`;
    const [value, inProduction] = [defaultIn(name, 'development'), defaultIn(name, 'production')];
    const parts = [value && (value === 'random' ? value : `\`${value}\``)];
    if (type.meta()?.['requiredInProduction']) parts.push('required in production');
    else if (inProduction !== value) parts.push(`\`${inProduction}\` in production`);
    return `| \`${name}\` | ${parts.filter(Boolean).join('; ')} | ${type.description} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
}

function environmentExample(): string {
  const settings = Object.entries(shape).map(([name, type]) => {
    // What depends on the machine is told in docs/reference/settings.md.
    const value = type.meta()?.['derived'] === undefined ? defaultIn(name, 'development') : '';
    return `# ${type.description}\n# ${name}=${value === 'random' ? '' : value}\n`;
  });
  return `# Copy to .env and remove the # in front of what you change; npm start and npm run dev read it.\n\n${settings.join('\n')}`;
}

describe('settings', () => {
  it('say what they mean', () => {
    const silent = Object.entries(shape).filter(([, type]) => !/^[A-Z`].*[^.]$/.test(type.description ?? ''));
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  // The pages tell of the reference service. When a setting changed on purpose: npm test -- test/house/settings -u
  it.skipIf(!hasSample)('are in .env.example as the schema has them', async () => {
    await expect(environmentExample()).toMatchFileSnapshot(join(root, '.env.example'));
  });

  it.skipIf(!hasSample)('are in docs/reference/settings.md as the schema has them', async () => {
    const table = /\| Variable \|.*?\n(?!\|)/s;
    expect(read('docs/reference/settings.md')).toMatch(table);
    await expect(read('docs/reference/settings.md').replace(table, () => `${settingsTable()}\n`)).toMatchFileSnapshot(
      join(root, 'docs/reference/settings.md'),
    );
  });
});
