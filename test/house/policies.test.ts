import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ListPolicy } from '../../src/chassis/query/list-policy.ts';
import { readModels } from '../support/models.ts';

const modules = join(import.meta.dirname, '../../src/modules');
const files = (readdirSync(modules, { recursive: true }) as string[]).filter((file) => file.endsWith('.schema.ts'));
const exported = await Promise.all(files.map((file) => import(pathToFileURL(join(modules, file)).href)));
const policies = exported.flatMap((file) => Object.entries(file)).filter(([, value]) => value instanceof ListPolicy);
const models = readModels();

// The compiler cannot follow policies that refer to each other, so this is seen here.
describe.each(policies as [string, ListPolicy][])('%s', (_name, policy) => {
  const { filters, includes } = policy.describe();
  const relations = [...Object.entries(filters), ...Object.entries(includes)].flatMap(([name, rule]) =>
    'describe' in rule ? [[name, rule.model, rule.many] as const] : [],
  );

  it('leads by each relation to the policy of the model behind it, and marks those that lead to many', () => {
    for (const [name, model, many] of relations) {
      expect(models.get(policy.model)?.targets[name], `${policy.model}.${name}`).toEqual({ model, many });
    }
  });
});
