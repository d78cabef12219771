import { describe, expect, it } from 'vitest';
import { providerModels, providersOf } from '../../../../src/chassis/database/models/provider-models.ts';

const postgresqlOnly = 'datasource db {\n  provider = "postgresql"\n}\n';

describe('the schema of SQLite', () => {
  it('leaves out native types and indexes of other kinds, keeps all else, and moves no line', () => {
    const models = [
      'model Thing {',
      '  id    String   @id @default(uuid(7)) @db.Uuid // "@db.Uuid" // of PostgreSQL',
      '  price Decimal? @db.Decimal(10, 2) @default(1)',
      '  url   String   @default("https://@db.example") @db.VarChar(100)',
      '  @@index([price], type: Gin)',
      '  @@index([price], type: BTree)',
      '  @@index([url(ops: raw("text_pattern_ops"))])',
      '}',
    ];
    expect(providerModels('sqlite', models.join('\n')).split('\n').slice(0, 8)).toEqual([
      'model Thing {',
      '  id    String   @id @default(uuid(7)) // "@db.Uuid" // of PostgreSQL',
      '  price Decimal? @default(1)',
      '  url   String   @default("https://@db.example")',
      '',
      '  @@index([price], type: BTree)',
      '',
      '}',
    ]);
    expect(providerModels('postgresql', models.join('\n')).split('\n').slice(0, 8)).toEqual(models);
  });

  it.each([
    ['labels String[]', 'Thing.labels (line 3) is a list of String: give it a model of its own'],
    ['states State[]', 'Thing.states (line 3) is a list of State: give it a model of its own'],
    ['place Unsupported("point")?', 'Thing.place (line 3) is Unsupported("point")'],
    ['number Int @default(autoincrement())', 'Thing.number (line 3) counts up and is no identifier'],
    [
      'key String @default(dbgenerated("gen_random_uuid()"))',
      'Thing.key (line 3) has a default that PostgreSQL computes',
    ],
  ])('is refused for the field %s, with its place and both ways out', (field, said) => {
    const models = `model Thing {\n  id Int @id @default(autoincrement())\n  ${field}\n  parts Part[]\n}\nmodel Part {\n  id Int @id\n}\nenum State {\n  on\n}\n`;
    expect(() => providerModels('sqlite', models)).toThrow(said);
    expect(() => providerModels('sqlite', models)).toThrow(
      /or say that the service runs on PostgreSQL only.*\n {2}datasource/,
    );
    expect(() => providerModels('postgresql', models)).not.toThrow();
  });
});

describe('the databases of models', () => {
  it('are both, or PostgreSQL alone where a datasource says so', () => {
    expect(providersOf('model Thing {\n  provider String\n}\n')).toEqual(['postgresql', 'sqlite']);
    expect(providersOf(`${postgresqlOnly}model Thing {\n}\n`)).toEqual(['postgresql']);
    expect(() => providersOf(postgresqlOnly.replace('postgresql', 'mysql'))).toThrow(
      'Expected provider = "postgresql" in the datasource of prisma/models.prisma, got "mysql".',
    );
  });

  it('have one datasource each, also where the models have one', () => {
    const schema = providerModels('postgresql', `// first\n${postgresqlOnly}model Thing {\n  id Int @id\n}\n`);
    expect(schema.match(/datasource/g)).toHaveLength(1);
    expect(schema.split('\n')[4]).toBe('model Thing {');
  });
});
