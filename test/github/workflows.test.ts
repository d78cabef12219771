import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { skipped, tool } from '../chart/chart.ts';
import { read, repositoryFiles, root } from '../house/repository.ts';

interface Job {
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  env?: Record<string, unknown>;
  uses?: string;
  steps?: { uses?: string; env?: Record<string, unknown>; with?: Record<string, unknown>; run?: string }[];
}

interface Workflow {
  name: string;
  permissions?: Record<string, string>;
  concurrency?: { group: string };
  jobs: Record<string, Job>;
}

const files = globSync('.github/workflows/*.yml', { cwd: root }).toSorted();
const workflows = files.map((file) => ({ file, text: read(file), ...(parse(read(file)) as Workflow) }));
const jobs = workflows.flatMap(({ file, jobs: named }) =>
  Object.entries(named).map(([name, job]) => ({ name: `${file}: ${name}`, job })),
);

describe('GitHub workflows', () => {
  it('fail where a scenario of the load tests has no list any more', () => {
    expect(read('.github/workflows/load.yml')).toMatch(
      /run: npm run load -- all smoke --resource all --every-scenario /,
    );
  });

  it('check, build the image, the chart, the documentation, load, peers and releases', () => {
    expect(workflows.map(({ name }) => name)).toEqual(['chart', 'check', 'docs', 'image', 'load', 'peers', 'release']);
  });

  it('pin every action to a commit, with its version behind it', () => {
    const uses = workflows.flatMap(({ file, text }) =>
      [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => ({ file, action })),
    );
    const pinned = /^([\w-]+\/)+[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$|^\.\/\.github\//;
    expect(uses.length).toBeGreaterThan(10);
    expect(uses.filter(({ action }) => !pinned.test(action))).toEqual([]);
  });

  it('name one commit for each version of an action', () => {
    const uses = workflows.flatMap(({ text }) => [...text.matchAll(/uses: (\S+)@(\S+) # (\S+)/g)]);
    const actions = new Set(uses.map(([, action]) => action));
    expect(new Set(uses.map(([line]) => line)).size).toBe(actions.size);
  });

  it('give secrets to the steps that use them, and to no job with all of its steps', () => {
    const given = /\$\{\{ *(?:secrets|github)\.\w*TOKEN *\}\}/i;
    const named = ({ env = {} }: Job) => Object.values(env).some((value) => given.test(String(value)));
    expect(jobs.filter(({ job }) => named(job)).map(({ name }) => name)).toEqual([]);
    const installing = jobs.flatMap(({ job }) => job.steps ?? []).filter(({ run = '' }) => /\bnpm ci\b/.test(run));
    expect(installing.length).toBeGreaterThan(5);
    expect(installing.filter(named)).toEqual([]);
  });

  it('may do nothing but read, except in jobs that say what they write', () => {
    for (const { permissions } of workflows) expect([{}, { contents: 'read' }]).toContainEqual(permissions);
    const lines = workflows.flatMap(({ file, text }) =>
      [...text.matchAll(/^ +[\w-]+: write.*/gm)].map(([line]) => `${file}: ${line.trim()}`),
    );
    expect(lines.filter((line) => !/: write # \w/.test(line))).toEqual([]);
  });

  it('write nothing on behalf of a pull request', () => {
    for (const { file, text, jobs: named } of workflows.filter(({ text: given }) =>
      /^ {2}pull_request:/m.test(given),
    )) {
      const writing = Object.entries(named).filter(([, { permissions = {} }]) =>
        Object.values(permissions).includes('write'),
      );
      const open = writing.filter(([, job]) => !/pull_request/.test(JSON.stringify({ ...job, steps: [] })));
      // What needs a job that is left out is left out as well.
      expect(open.filter(([, job]) => !('needs' in job)).map(([name]) => `${file}: ${name}`)).toEqual([]);
      expect(text).not.toContain('pull_request_target');
    }
  });

  it('build the image on a base by digest, and push what stands on the one that was scanned', () => {
    const text = read('.github/workflows/image.yml');
    const bases = [...text.matchAll(/^ +(?:BUILDER|RUNTIME)=(.*)$/gm)].map(([, base]) => base);
    expect(bases).toHaveLength(4);
    expect(bases.filter((base) => !base?.includes('needs.base.outputs.node'))).toEqual([]);
    expect(text).toContain('docker buildx imagetools inspect');
  });

  it('leave no token in the checkout', () => {
    const checkouts = jobs.flatMap(({ job }) =>
      (job.steps ?? []).filter(({ uses }) => uses?.includes('actions/checkout@')),
    );
    expect(checkouts.length).toBeGreaterThan(4);
    expect(checkouts.filter((step) => step.with?.['persist-credentials'] !== false)).toEqual([]);
  });

  it('put no text of others into a shell', () => {
    const scripts = jobs.flatMap(({ name, job }) => (job.steps ?? []).map(({ run = '' }) => ({ name, run })));
    expect(scripts.filter(({ run }) => run.includes('${{'))).toEqual([]);
  });

  it('wait for no other branch or tag', () => {
    const groups = workflows.map(({ concurrency }) => concurrency?.group);
    expect(groups.filter((group) => !group?.match(/-\$\{\{ github\.ref \}\}$/))).toEqual([]);
  });

  it('end after a time that is named', () => {
    const endless = jobs.filter(({ job }) => !job.uses && !(Number(job['timeout-minutes']) <= 60));
    expect(endless.map(({ name }) => name)).toEqual([]);
  });

  it('run scripts that exist', () => {
    const scriptsOf = (file: string): object => JSON.parse(read(file)).scripts;
    const scripts = { ...scriptsOf('package.json'), ...scriptsOf('load-tests/peers/package.json') };
    const named = workflows.flatMap(({ text }) =>
      [...text.matchAll(/npm run (?:--\S+ )*([\w:-]+)/g)].map(([, name]) => name),
    );
    expect(named.filter((name = '') => !(name in scripts))).toEqual([]);
    const paths = workflows.flatMap(({ text }) =>
      [...text.matchAll(/run: ((?:\.ci|scripts|helm)\/[\w.-]+)/g)].map(([, path]) => path),
    );
    expect(paths.filter((path = '') => globSync(path, { cwd: root }).length === 0)).toEqual([]);
  });

  it.skipIf(!tool('actionlint'))(`pass actionlint${skipped('actionlint')}`, () => {
    execFileSync(tool('actionlint') ?? 'actionlint', ['-color=false', ...files], { cwd: root, stdio: 'pipe' });
  });
});

describe('.github', () => {
  it('has Dependabot look at packages, the image, compose and actions', () => {
    const { updates } = parse(read('.github/dependabot.yml')) as {
      updates: { 'package-ecosystem': string; directory: string }[];
    };
    const ecosystems = new Set(updates.map((update) => update['package-ecosystem']));
    expect([...ecosystems]).toEqual(['npm', 'docker', 'docker-compose', 'github-actions']);
  });

  it('has Dependabot look into every directory with a lockfile', () => {
    const { updates } = parse(read('.github/dependabot.yml')) as {
      updates: { 'package-ecosystem': string; directory: string }[];
    };
    const watched = updates.filter((update) => update['package-ecosystem'] === 'npm').map(({ directory }) => directory);
    const locked = repositoryFiles(/(^|\/)package-lock\.json$/).map((file) => join('/', dirname(file)));
    expect(watched.toSorted()).toEqual(locked.toSorted());
  });

  it('has an owner for paths that exist', () => {
    const lines = read('.github/CODEOWNERS')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const wrong = lines.filter((line) => {
      const [path = '', ...owners] = line.split(/\s+/);
      const exists = path === '*' || globSync(path.replace(/^\//, ''), { cwd: root }).length > 0;
      return !exists || owners.length === 0 || owners.some((owner) => !owner.startsWith('@'));
    });
    expect(wrong).toEqual([]);
  });

  it('asks for what an answer needs, in forms', () => {
    for (const file of ['bug', 'proposal']) {
      const form = parse(read(`.github/ISSUE_TEMPLATE/${file}.yml`)) as { name: string; body: { id: string }[] };
      expect(form.body.length).toBeGreaterThan(1);
      expect(new Set(form.body.map(({ id }) => id)).size).toBe(form.body.length);
    }
    expect(read('.github/pull_request_template.md')).toContain('npm run check');
  });
});
