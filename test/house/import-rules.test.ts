import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './repository.ts';

/** One violation for each rule: the file it is planted in, and its source. */
const violations: Record<string, [file: string, source: string]> = {
  'no-cycle': ['src/chassis/http/ring-a.ts', "import './ring-b.ts'; export const a = 1;"],
  resolvable: ['src/chassis/http/lost.ts', "import './nowhere.ts';"],
  'no-dev-package': ['src/chassis/http/dev.ts', "import 'supertest';"],
  'src-alone': ['src/chassis/http/tested.ts', "import '../../../test/helper.ts';"],
  main: ['src/main.ts', "import './chassis/errors/plain.ts';"],
  'app-config': ['src/app.config.ts', "import './modules/users/user.types.ts';"],
  start: ['src/chassis/start.ts', "import './query/plain.ts';"],
  'chassis-alone': ['src/chassis/http/feature.ts', "import '../../modules/users/user.types.ts';"],
  'no-inside-door': ['src/chassis/loaders/door.ts', "import '../index.ts';"],
  'nobody-starts': ['src/chassis/loaders/again.ts', "import '../start.ts';"],
  service: ['src/chassis/http/served.ts', "import type { S } from '../service.ts'; export type T = S;"],
  'service-type': ['src/chassis/context/served.ts', "import { s } from '../service.ts'; export const t = s;"],
  'current-environment': ['src/chassis/http/ambient.ts', "import '../current-environment.ts';"],
  'current-service': ['src/chassis/http/asking.ts', "import '../context/current-service.ts';"],
  'chassis-errors': ['src/chassis/errors/up.ts', "import '../http/plain.ts';"],
  'chassis-errors-types': ['src/chassis/errors/side.ts', "import '../context/plain.ts';"],
  'chassis-config': ['src/chassis/config/up.ts', "import '../errors/plain.ts';"],
  'chassis-context': ['src/chassis/context/up.ts', "import '../http/plain.ts';"],
  'chassis-di': ['src/chassis/di/up.ts', "import '../http/plain.ts';"],
  'chassis-query': ['src/chassis/query/up.ts', "import '../http/plain.ts';"],
  'chassis-telemetry': ['src/chassis/telemetry/up.ts', "import '../http/plain.ts';"],
  'chassis-events': ['src/chassis/events/up.ts', "import '../loaders/plain.ts';"],
  'chassis-http': ['src/chassis/http/up.ts', "import '../database/plain.ts';"],
  'chassis-http-types': ['src/chassis/http/side.ts', "import '../config/plain.ts';"],
  'chassis-database': ['src/chassis/database/up.ts', "import '../http/plain.ts';"],
  'chassis-admission': ['src/chassis/admission/up.ts', "import '../database/plain.ts';"],
  'chassis-resource': ['src/chassis/resource/up.ts', "import '../loaders/plain.ts';"],
  'chassis-resource-types': ['src/chassis/resource/side.ts', "import '../database/plain.ts';"],
  'chassis-openapi': ['src/chassis/openapi/up.ts', "import '../database/plain.ts';"],
  'chassis-uploads-types': ['src/chassis/uploads/side.ts', "import '../config/plain.ts';"],
  'chassis-uploads': ['src/chassis/uploads/up.ts', "import '../database/plain.ts';"],
  'chassis-idempotency': ['src/chassis/idempotency/up.ts', "import '../loaders/plain.ts';"],
  'chassis-idempotency-types': ['src/chassis/idempotency/side.ts', "import '../admission/plain.ts';"],
  'chassis-webhooks': ['src/chassis/webhooks/up.ts', "import '../loaders/plain.ts';"],
  'chassis-webhooks-types': ['src/chassis/webhooks/side.ts', "import '../database/plain.ts';"],
  'chassis-outbound': ['src/chassis/outbound/up.ts', "import '../http/plain.ts';"],
  'chassis-identity': ['src/chassis/identity/up.ts', "import '../http/plain.ts';"],
  'chassis-bundle': ['src/chassis/bundle/up.ts', "import '../config/plain.ts';"],
  'chassis-image': ['src/chassis/image/up.ts', "import '../loaders/plain.ts';"],
  'chassis-internal': ['src/chassis/internal/up.ts', "import '../loaders/plain.ts';"],
  'chassis-jobs': ['src/chassis/jobs/up.ts', "import '../loaders/plain.ts';"],
  'chassis-cli': ['src/chassis/cli/up.ts', "import '../testing/plain.ts';"],
  'chassis-testing': ['src/chassis/testing/up.ts', "import '../http/plain.ts';"],
  'chassis-lifecycle': ['src/chassis/lifecycle/up.ts', "import '../loaders/plain.ts';"],
  'module-door': ['src/modules/users/inside.ts', "import '../../chassis/http/plain.ts';"],
  'module-module': [
    'src/modules/users/call.ts',
    "import type { O } from '../other/other.schema.ts'; export type P = O;",
  ],
  'module-module-types': [
    'src/modules/users/value.ts',
    "import { plain } from '../other/other.types.ts'; export const b = plain;",
  ],
  'module-di': ['src/modules/users/again.ts', "import './di.ts';"],
  'module-routes': ['src/modules/users/user.routes.ts', "import './user.service.ts';"],
  'module-controller': ['src/modules/users/user.controller.ts', "import './user.repository.ts';"],
  'module-service': ['src/modules/users/user.service.ts', "import './user.controller.ts';"],
  'module-repository': ['src/modules/users/user.repository.ts', "import './user.service.ts';"],
  'module-schema': ['src/modules/users/user.schema.ts', "import './user.service.ts';"],
  'module-types': ['src/modules/users/user.types.ts', "import './user.schema.ts';"],
  'no-express-below': [
    'src/modules/users/web.service.ts',
    "import type { Request } from 'express'; export type R = Request;",
  ],
  prisma: [
    'src/modules/users/orm.service.ts',
    "import type { P } from '../../generated/sqlite/client.ts'; export type Q = P;",
  ],
};

/** Files that keep every rule, and are imported by those that do not. */
const innocent: Record<string, string> = {
  ...Object.fromEntries(
    ['errors', 'config', 'context', 'query', 'http', 'database', 'admission', 'loaders', 'testing'].map((folder) => [
      `src/chassis/${folder}/plain.ts`,
      'export const plain = 1; export type Plain = number;',
    ]),
  ),
  'src/chassis/index.ts':
    "export * from './errors/plain.ts'; export * from './service.ts'; export * from './current-environment.ts';",
  'src/chassis/service.ts': 'export const s = 1; export type S = number;',
  'src/chassis/current-environment.ts': "import './context/current-service.ts';",
  'src/chassis/context/current-service.ts': "import type { S } from '../service.ts'; export type C = S;",
  'src/chassis/errors/context-type.ts': "import type { Plain } from '../context/plain.ts'; export type C = Plain;",
  'src/chassis/http/ring-b.ts': "import './ring-a.ts';",
  'src/chassis/http/type-ring-a.ts': "import type { B } from './type-ring-b.ts'; export type A = B;",
  'src/chassis/http/type-ring-b.ts': "import type { A } from './type-ring-a.ts'; export type B = A | 1;",
  'src/modules/users/di.ts': "import express from 'express'; export const d = express;",
  'src/modules/users/neighbour.service.ts': "import type { T } from '../other/other.types.ts'; export type N = T;",
  'src/modules/other/other.types.ts': 'export type T = 1; export const plain = 1;',
  'src/modules/other/other.schema.ts': 'export type O = 1;',
  'src/generated/sqlite/client.ts': 'export type P = 1;',
  'test/helper.ts': 'export const helper = 1;',
};

interface Summary {
  violations: { from: string; rule: { name: string } }[];
  ruleSetUsed: { forbidden: { name: string }[] };
}

describe('import rules', () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-imports-'));
  let summary: Summary;
  let found: Set<string>;

  beforeAll(async () => {
    const planted = Object.values(violations);
    for (const [file, source] of [...planted, ...Object.entries(innocent)]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), source);
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    writeFileSync(join(folder, 'package.json'), '{"dependencies":{"express":"*"},"devDependencies":{"supertest":"*"}}');
    summary = await cruise(folder);
    found = new Set(summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(Object.entries(violations))('%s catches its violation', (rule, [file]) => {
    expect(found).toContain(`${rule}: ${file}`);
  });

  it('has a planted violation for every rule', () => {
    const rules = summary.ruleSetUsed.forbidden.map((rule) => rule.name);
    expect(Object.keys(violations).toSorted()).toEqual(rules.toSorted());
  });

  it('lets the allowed imports pass', () => {
    const accused = [...found].filter((entry) => Object.keys(innocent).some((file) => entry.endsWith(`: ${file}`)));
    expect(accused).toEqual([]);
  });
});

async function cruise(cwd: string): Promise<Summary> {
  const cli = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const options = ['src', '--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json'];
  // It exits with the number of violations, which is what is wanted here.
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...options], { cwd, maxBuffer: 2 ** 24 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  return (JSON.parse(stdout) as { summary: Summary }).summary;
}
