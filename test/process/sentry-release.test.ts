import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { startSentry } from '../../src/chassis/telemetry/sentry/start-sentry.ts';
import { sentrySettings } from '../chassis/telemetry/sentry/sentry-settings.ts';
import { buildDirectory } from '../support/built.ts';
import { recordingLogger } from '../support/log-lines.ts';
import { SentryApi } from '../support/sentry-api.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const maps = ['program.js', 'chassis/chunks/start.js'];

/** A repository with a release before and two commits since, and a build in it. */
function repository(): { directory: string; revision: string } {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-release-'));
  const git = (...options: string[]) => execFileSync('git', options, { cwd: directory, encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('config', 'user.email', 'dev@example.com');
  git('config', 'user.name', 'Dev');
  for (const subject of ['Before', 'Add shipments', 'Mend the label']) {
    writeFileSync(join(directory, 'file'), subject);
    git('add', 'file');
    git('commit', '--quiet', '-m', subject);
    if (subject === 'Before') git('tag', 'v0.9.0');
  }
  return { directory, revision: git('rev-parse', 'HEAD') };
}

it('a release of Sentry has the name that the service reports, its commits and its source maps', async () => {
  const api = await SentryApi.start();
  const { directory, revision } = repository();
  for (const file of maps) {
    mkdirSync(dirname(join(directory, 'dist', file)), { recursive: true });
    for (const name of [file, `${file}.map`]) cpSync(join(root, buildDirectory, name), join(directory, 'dist', name));
  }
  const env = {
    ...{ PATH: process.env['PATH'], HOME: directory, SENTRY_CONFIG_DIR: join(directory, 'config') },
    ...{ SENTRY_CLI_NO_TELEMETRY: '1', SENTRY_CLI_NO_UPDATE_CHECK: '1', DO_NOT_TRACK: '1' },
    ...{ SENTRY_URL: api.url, SENTRY_AUTH_TOKEN: 'a-token', SENTRY_ORG: 'acme', SENTRY_PROJECT: 'orders' },
    ...{ VERSION: version, REVISION: revision },
  };
  await promisify(execFile)('bash', [join(root, 'scripts/sentry-release.sh'), 'dist'], { cwd: directory, env });

  const settings = sentrySettings('http://key@127.0.0.1:9/1', { SOURCE_REVISION: revision, SENTRY_RELEASE: undefined });
  const sentry = await startSentry(settings, recordingLogger().logger);
  const release = sentry?.describe().release;
  await sentry?.close(1000);
  const call = (what: string) => api.calls.filter((one) => one.what === what);
  expect(call('POST /releases/').map(({ body }) => body)).toEqual([{ version: release, projects: ['orders'] }]);
  const changes = call(`PUT /releases/${release}/`).map(({ body }) => body);
  expect(changes.flatMap(({ commits = [] }) => commits.map(({ message }: { message: string }) => message))).toEqual([
    'Mend the label',
    'Add shipments',
  ]);
  expect(changes.at(-1)).toEqual({ dateReleased: expect.any(String) });
  expect(call('POST /artifactbundle/assemble/')[0]?.body).toMatchObject({ version: release, projects: ['orders'] });
  const bundle = Buffer.concat(api.pieces).toString('latin1');
  for (const file of maps) expect(bundle).toContain(`${file}.map`);
  expect(new Set(api.calls.map(({ token }) => token))).toEqual(new Set(['Bearer a-token']));
});

it('the workflow of releases does so behind the build, where a token is set', () => {
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'));
  const steps: { if?: string; run?: string; with?: { 'fetch-depth': number } }[] = jobs.sentry.steps;
  expect(steps.map((step) => step.if)).toEqual(steps.map(() => "env.HAS_TOKEN == 'true'"));
  expect(steps[0]?.with?.['fetch-depth']).toBe(0);
  expect(steps.flatMap(({ run }) => run?.trim().split('\n') ?? [])).toEqual([
    'npm ci',
    'npm run build',
    'REVISION=$GITHUB_SHA scripts/sentry-release.sh dist',
  ]);
});
