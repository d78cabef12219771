import { readFileSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, repositoryFiles, root } from '../house/repository.ts';

/** The instructions of the Dockerfile, continued lines joined. */
const instructions = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => line.replaceAll(/\s+/g, ' '));
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the argument's name in the Dockerfile.
const runtime = '${RUNTIME}';
// biome-ignore lint/suspicious/noTemplateCurlyInString: the same.
const builder = '${BUILDER}';
const lastStage = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')));

function all(instruction: string, among = instructions): string[] {
  return among.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
}

/** Whether .dockerignore lets a file into the build: the last pattern that matches it or a folder above decides. */
function isSent(path: string): boolean {
  const parts = path.split('/');
  const prefixes = parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
  const lines = read('.dockerignore').split('\n');
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return rules.reduce((sent, rule) => {
    const pattern = rule.replace(/^!/, '');
    return prefixes.some((prefix) => matchesGlob(withoutDots(prefix), withoutDots(pattern)))
      ? rule.startsWith('!')
      : sent;
  }, true);
}

/** Docker's patterns know no hidden files: a star takes those whose names start with a dot as well. */
function withoutDots(text: string): string {
  return text.replaceAll('.', '·');
}

describe('Dockerfile', () => {
  it('stands on Node 24 of Debian 12, unless another runtime is given', () => {
    const stages = new Set(all('FROM').flatMap((from) => from.match(/ AS (\S+)$/)?.[1] ?? []));
    const bases = all('FROM').map((from) => from.split(' ')[0] ?? '');
    const outside = new Set(bases.filter((base) => !stages.has(base)));
    expect([...outside]).toEqual([builder, runtime]);
    expect(instructions.slice(0, 2)).toEqual([
      'ARG BUILDER=docker.io/library/node:24-bookworm-slim',
      'ARG RUNTIME=docker.io/library/node:24-bookworm-slim',
    ]);
    expect(read('.nvmrc').trim()).toBe('24');
  });

  it('makes BuildKit fetch no frontend', () => expect(read('Dockerfile')).not.toMatch(/^#\s*syntax\s*=/im));

  it('keeps memory below the limit of its container: the heap has three quarters, the C library two arenas', () => {
    const env = all('ENV', instructions.slice(instructions.indexOf(`FROM ${runtime} AS service`))).join(' ');
    const thresholds = ['MALLOC_MMAP_THRESHOLD_=131072', 'MALLOC_TRIM_THRESHOLD_=131072'];
    for (const setting of [
      'NODE_OPTIONS="--max-old-space-size-percentage=75 --max-semi-space-size=8"',
      'MALLOC_ARENA_MAX=2',
      ...thresholds,
    ])
      expect(env).toContain(setting);
  });

  it('ends in a user without a name and a process without a shell, whose debugger no signal opens', () => {
    expect(all('USER', lastStage)).toEqual(['65532:65532']);
    expect(all('ENTRYPOINT', lastStage)).toEqual([
      '["node", "--disable-sigusr1", "--min-semi-space-size=8", "dist/main.js"]',
    ]);
    expect(all('HEALTHCHECK', lastStage)[0]).toMatch(/CMD \["node", "[^"]+"\]$/);
    const inRuntime = instructions.slice(instructions.indexOf(`FROM ${runtime} AS service`));
    expect(all('RUN', inRuntime).filter((command) => !command.startsWith('["'))).toEqual([]);
  });

  it('gives nothing to its user but the places for volumes, and lets it read the compile cache', () => {
    const inRuntime = instructions.slice(instructions.indexOf(`FROM ${runtime} AS service`));
    const given = all('COPY', inRuntime).filter((line) => line.includes('--chown=65532'));
    expect(given.map((line) => line.split(' ').at(-1))).toEqual(['/data', '/uploads', '.cache']);
    expect(all('COPY', lastStage)).toEqual(['--from=warm --chown=0:0 --chmod=0555 /app/.cache .cache']);
  });

  it('adds nothing from elsewhere, and takes secrets by mounts only', () => {
    expect(all('ADD')).toEqual([]);
    const secret = /TOKEN|SECRET|PASSWORD|CREDENTIAL|_KEY|NPMRC/i;
    expect([...all('ARG'), ...all('ENV')].filter((line) => secret.test(line))).toEqual([]);
    const mounts = all('RUN').flatMap((line) => [...line.matchAll(/--mount=type=secret,\S+/g)].map(String));
    expect(mounts).toHaveLength(2);
    expect(mounts.filter((mount) => mount.includes('required'))).toEqual([]);
  });

  it('installs what the lockfile names, runs no install script, and keeps a cache', () => {
    const installs = all('RUN').filter((line) => /\bnpm (ci|install)\b/.test(line));
    expect(installs).toHaveLength(1);
    expect(installs[0]).toMatch(/--mount=type=cache,target=\/root\/\.npm.* npm ci .*--ignore-scripts/);
  });

  it('names version, revision and source in the labels of OCI', () => {
    const [labels = ''] = all('LABEL', lastStage);
    for (const name of ['version', 'revision', 'source', 'licenses', 'title']) {
      expect(labels).toContain(`org.opencontainers.image.${name}=`);
    }
  });

  it('copies what .dockerignore lets in, packages before the rest', () => {
    const sources = all('COPY')
      .filter((line) => !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(0, -1));
    expect(sources).toEqual(['package.json', 'package-lock.json', '.']);
    expect(sources.filter((source) => source !== '.' && !isSent(source))).toEqual([]);
  });
});

describe('.dockerignore', () => {
  const local = [
    '.env',
    '.env.production',
    'src/.env',
    '.git/config',
    '.npmrc',
    'prisma/.npmrc',
    'node_modules/a/b.js',
  ];
  const made = [
    'dist/main.js',
    'data/slipway.db',
    'prisma/data.db',
    'uploads/a.png',
    '.cache/x',
    'src/generated/orm.d.ts',
  ];
  const others = ['test/a.test.ts', 'helm/slipway/values.yaml', 'src/server.key', 'coverage/x', 'npm-debug.log'];

  it.each([...local, ...made, ...others])('keeps out %s', (path) => expect(isSent(path)).toBe(false));

  it('lets in every source of the service, and what generates and checks it', () => {
    const needed = repositoryFiles(
      /^(src|prisma)\/|^(package|package-lock|tsconfig)\.json$|^scripts\/(generate|link-package)\.ts$/,
    );
    expect(needed.length).toBeGreaterThan(100);
    expect(needed.filter((path) => !isSent(path))).toEqual([]);
  });

  it('starts with everything, so that a new file is out until it is named', () => {
    const lines = readFileSync(`${root}/.dockerignore`, 'utf8').split('\n');
    expect(lines.find((line) => !line.startsWith('#'))).toBe('*');
  });
});
