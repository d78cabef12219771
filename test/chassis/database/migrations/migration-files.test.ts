import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { modelsLackMigration } from '../../../../src/chassis/database/migrations/migration-files.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-models-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const migrations = join(directory, 'migrations');
const models = join(directory, 'models.prisma');
const shipped = readFileSync(join(import.meta.dirname, '../../../../prisma/models.prisma'), 'utf8');
mkdirSync(migrations);
writeFileSync(join(migrations, 'models.prisma'), shipped);

describe('models without their migration', () => {
  it.each([
    ['a new field', shipped.replace('sku ', 'weight Int?\n  sku '), true],
    ['another attribute', shipped.replace('@unique', ''), true],
    ['nothing', shipped, false],
    ['the database that they are for', `datasource db {\n  provider = "postgresql"\n}\n\n${shipped}`, false],
    ['comments and spaces only', `// new\n${shipped.replaceAll('  ', '    ')}`, false],
  ])('are seen by %s', (_change, text, expected) => {
    writeFileSync(models, text);
    expect(modelsLackMigration(models, migrations)).toBe(expected);
  });

  it('are not looked for where there are no models, as in the image', () => {
    expect(modelsLackMigration(join(directory, 'nowhere.prisma'), migrations)).toBe(false);
  });

  it('are none in this repository', () => {
    expect(modelsLackMigration()).toBe(false);
  });
});
