import { join } from 'node:path';
import { register } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/chassis/cli/command-list.ts';
import { usage } from '../../src/chassis/cli/usage.ts';
import { type Operator, operators } from '../../src/chassis/query/operators.ts';
import { bootTestApp } from '../support/boot-test-app.ts';
import { read, root } from './repository.ts';

/** Puts a table, or a text between two marks, where the page has one. */
async function isIn(page: string, written: RegExp, text: string): Promise<void> {
  expect(read(page)).toMatch(written);
  await expect(read(page).replace(written, () => text)).toMatchFileSnapshot(join(root, page));
}

// When one of these changed on purpose: npm test -- test/house/reference-tables -u
describe('docs/reference', () => {
  it('has the operators of filters in lists.md', async () => {
    const operands = { value: 'a value', nullable: 'a value or null', list: 'an array of values' };
    const rows = Object.entries<Operator>(operators).map(([name, { kinds, operand, cost }]) => {
      const others = Object.entries(cost).filter(([kind, price]) => kind !== 'default' && price !== cost.default);
      const costs = [cost.default, ...others.map(([kind, price]) => `${price} (${kind})`)];
      return `| \`${name}\` | ${kinds.join(', ')} | ${operands[operand]} | ${costs.join(', ')} |`;
    });
    const table = ['| Operator | Fields | Operand | Cost |', '|---|---|---|---|', ...rows].join('\n');
    await isIn('docs/reference/lists.md', /\| Operator \|.*?\n(?!\|)/s, `${table}\n`);
  });

  it('has the commands of the package in commands.md', async () => {
    const sections = commands.map(
      ({ name, parameters, summary, help }) =>
        `## ${name}\n\n\`slipway ${[name, parameters].filter(Boolean).join(' ')}\`: ${summary}.\n\n\`\`\`text\n${help}\n\`\`\`\n`,
    );
    const [, notes = ''] = usage('').split(/\n(?="slipway <command> --help")/);
    const text = `\n\`\`\`text\n${notes.trim()}\n\`\`\`\n\n${sections.join('\n')}`;
    await isIn('docs/reference/commands.md', /(?<=<!-- generated -->\n).*/s, text);
  });
});

describe('docs/reference/metrics.md', async () => {
  const app = await bootTestApp({
    modulesDirectory: join(root, 'test/fixtures/observed/modules'),
    env: { CARRIER_URL: 'http://127.0.0.1:1' },
    configure: (config) => ({ ...config, modules: [{ name: 'shipments', enabled: true, routesPrefix: '/api/v1' }] }),
  });

  it('has every metric of a service', async () => {
    const { text } = await app.internal.get('/metrics');
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name = '', type]) => [name, type]));
    // Test files of one process share prom-client's default registry, and each may count something of its own there.
    const ofTests = new Set(register.getMetricsAsArray().map(({ name }) => name));
    const helps = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].filter(
      ([, name = '']) => !ofTests.has(name) || /^(nodejs|process)_/.test(name),
    );
    const rows = helps.map(
      ([, name = '', help]) => `| \`${name}\` | ${types.get(name)} | ${help?.replaceAll('|', '\\|')} |`,
    );
    const table = ['| Metric | Type | Meaning |', '|---|---|---|', ...rows.toSorted()].join('\n');
    await isIn('docs/reference/metrics.md', /\| Metric \|.*?\n(?!\|)/s, `${table}\n`);
  });
});
