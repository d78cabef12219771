import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipped, tool } from '../chart/chart.ts';
import { repositoryFiles, root } from '../house/repository.ts';
import { type Packed, pack, run } from './pack.ts';
import { withService } from './with-service.ts';

const directory = mkdtempSync(join(tmpdir(), 'slipway-package-'));
const shop = join(directory, 'shop');
const read = (file: string) => readFileSync(join(shop, file), 'utf8');
let packed: Packed;

beforeAll(async () => {
  packed = await pack(directory);
}, 120_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the package', () => {
  it('holds the chassis with its types, its program, its pages, the load tests and the chart, and nothing else', () => {
    const own =
      /^(lib\/chassis\/.*\.(js|d\.ts)|lib\/load-tests\/.*\.js|load-tests\/README\.md|lib\/tsconfig\.json|lib\/sample\.json\.br|helm\/slipway\/.*|docs\/(README\.md|(how-to|reference|explanation|tutorial|pictures)\/.*)|Dockerfile|\.dockerignore|package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/;
    expect(packed.files.filter((file) => !own.test(file))).toEqual([]);
    expect(packed.files).toEqual(
      expect.arrayContaining([
        'lib/chassis/index.js',
        'lib/chassis/index.d.ts',
        'lib/chassis/cli/main.js',
        'lib/chassis/testing/index.js',
        'lib/load-tests/scenarios/list-shallow.js',
        'helm/slipway/Chart.yaml',
        'Dockerfile',
      ]),
    );
  });

  it('brings the pages that its README names, but for the decisions', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
    const pages = [...readme.matchAll(/\]\((docs\/[^)#]+\.\w+)/g)].map(([, page]) => page);
    expect(pages.length).toBeGreaterThan(10);
    expect(packed.files).toEqual(expect.arrayContaining(pages));
  });

  it('is below 1 MB, and below 3 MB unpacked', () => {
    expect(packed.size).toBeLessThan(1_000_000);
    expect(packed.unpackedSize).toBeLessThan(3_000_000);
  });
});

describe('a service that is made of the package alone', () => {
  const slipway = (...args: string[]) => run('npx', ['slipway', ...args], shop);

  it('is made by one command, which asks nothing', async () => {
    const spec = `--package=${packed.tarball}`;
    await run('npx', ['--yes', spec, 'slipway', 'new', 'shop', '--yes'], directory);
    expect(readdirSync(directory).toSorted()).toEqual(['shop', 'slipway-1.0.0.tgz']);
    expect(JSON.parse(read('package.json')).dependencies.slipway).toBe('file:vendor/slipway-1.0.0.tgz');
    expect(read('.env')).toMatch(/^AUTH_TOKEN=\S{43}\nOPENAPI_TITLE=shop\n/);
  }, 300_000);

  it('has a lock file by which npm warns of no package that asks for a newer Node than the one that runs npm', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { engines?: object }> };
    expect(Object.keys(packages).filter((path) => packages[path]?.engines !== undefined)).toEqual(['']);
  });

  it('shares one Express, one zod and one Prisma with the chassis', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, unknown> };
    for (const name of ['express', 'zod', '@prisma/client']) {
      const copies = Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
      expect(copies).toEqual([`node_modules/${name}`]);
    }
  });

  it('loads by its door in less than four times the CPU time of Express, zod and the Prisma client alone', async () => {
    const shared = "await import('express'); await import('zod'); await import('@prisma/client/runtime/client');";
    const milliseconds = async (imports: string) => {
      const script = `const before = process.cpuUsage(); ${imports} const { user, system } = process.cpuUsage(before);`;
      const program = `${script} console.log((user + system) / 1000);`;
      return Number((await run('npx', ['node', '--input-type=module', '--eval', program], shop)).stdout);
    };
    const [base, door]: [number[], number[]] = [[], []];
    for (let i = 0; i < 5; i += 1) {
      base.push(await milliseconds(shared));
      door.push(await milliseconds("await import('slipway');"));
    }
    expect(Math.min(...door) / Math.min(...base)).toBeLessThan(4);
  }, 120_000);

  it('gets a module by one command, which is in its models, migrations, configuration and tests', async () => {
    await slipway('module', 'product', 'name:string', 'price:int', 'category:ref');
    expect(read('prisma/models.prisma')).toMatch(/model Product \{[^}]*categoryId +String +@db\.Uuid/);
    expect(read('src/app.config.ts')).toContain("{ name: 'product', enabled: true, routesPrefix: '/api/v1' }");
    for (const provider of ['postgresql', 'sqlite']) {
      expect(readdirSync(join(shop, 'prisma/migrations', provider))).toEqual(
        [/_init$/, /_add_products$/].map((name) => expect.stringMatching(name)),
      );
    }
  }, 60_000);

  it('is as it was where a module cannot be made', async () => {
    const before = filesOf(shop);
    for (const [args, said] of [
      [['order', 'shop:ref'], 'Expected a model Shop'],
      [['product', 'name:string'], 'found Product in prisma/models.prisma'],
      [['order', 'class:nonsense'], 'Expected one of the types'],
      // The models allow it and Prisma does not.
      [['order', 'model_:enum(true)'], ''],
    ] as [string[], string][]) {
      await expect(slipway('module', ...args), args.join(' ')).rejects.toThrow(said);
      expect(filesOf(shop), args.join(' ')).toEqual(before);
    }
  }, 60_000);

  it('is asked for by each command that is about one, where there is none', async () => {
    const program = join(shop, 'node_modules/.bin/slipway');
    for (const command of ['generate', 'build', 'migrate', 'seed', 'routes', 'config', 'openapi', 'doctor']) {
      const said = `Expected ${join(directory, 'src/app.config.ts')}, found nothing; run this in the directory of a service.`;
      await expect(run(program, [command], directory), command).rejects.toThrow(said);
    }
  }, 60_000);

  it('has fields of every type', async () => {
    const fields = ['number:string!', 'note:text?', 'amount:decimal', 'weight:float?', 'count:bigint', 'paid:boolean'];
    const more = [
      'dueAt:datetime',
      'extra:json?',
      'trace:uuid?',
      'status:enum(draft|placed)',
      'product:ref',
      'gift:ref(Product)?',
    ];
    await slipway('module', 'order', ...fields, ...more, '--access', 'guarded');
  }, 60_000);

  it('compiles, a misspelt field does not', async () => {
    await run('npx', ['tsc'], shop);
    const schema = join(shop, 'src/modules/product/product.schema.ts');
    const text = readFileSync(schema, 'utf8');
    writeFileSync(schema, text.replace("sort: ['name'", "sort: ['nam'"));
    await expect(run('npx', ['tsc'], shop)).rejects.toThrow(/product\.schema\.ts.*'"nam"'|nam/);
    writeFileSync(schema, text);
  }, 120_000);

  it('passes its tests on both databases', async () => {
    const { stdout } = await run('npm', ['test'], shop);
    expect(stdout).toMatch(/Test Files +\d+ passed/);
    for (const provider of ['postgresql', 'sqlite']) expect(stdout).toContain(provider);
  }, 180_000);

  it(
    'starts, answers what it was given, and ends with code 0',
    () =>
      withService(shop, async ({ url }) => {
        const headers = {
          authorization: `Bearer ${/AUTH_TOKEN=(\S+)/.exec(read('.env'))?.[1]}`,
          'content-type': 'application/json',
        };
        const created = await fetch(`${url}/api/v1/categories`, { method: 'POST', headers, body: '{"name":"Books"}' });
        expect(created.status).toBe(201);
        const { paths } = (await (await fetch(`${url}/api-docs.json`)).json()) as { paths: Record<string, unknown> };
        expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/v1/products', '/api/v1/orders/{id}']));
      }),
    60_000,
  );

  it('is found well by the doctor, with its routes, its settings without secrets and its API document', async () => {
    expect((await slipway('doctor')).stdout).not.toContain('MEND');
    expect((await slipway('routes')).stdout).toMatch(/^GET +\/api\/v1\/orders +bearer +Order +order$/m);
    const { stdout } = await slipway('config', '--changed');
    expect(stdout).toMatch(/^AUTH_TOKEN +\[redacted\] +\.env +\[redacted\]$/m);
    await slipway('openapi');
    expect((await slipway('openapi', '--check')).stdout).toBe('The API has not changed.\n');
  }, 60_000);
});

describe.skipIf(skipped('k6'))(`the load tests of a service that is made of the package${skipped('k6')}`, () => {
  /** With k6 on the PATH, as a service finds it. */
  const load = (...args: string[]) => {
    const path = [dirname(tool('k6') ?? ''), process.env['PATH']].join(delimiter);
    return run('env', [`PATH=${path}`, 'npm', 'run', 'load', '--', ...args], shop);
  };

  it('have every scenario of each list, without a line for it, with records, a login and writes', async () => {
    const short = ['--size', 'small', '--rate', '5', '--duration', '1s', '--database', 'sqlite', '--out', 'report'];
    const scenarios = 'list-shallow,list-filtered-wide,list-include,read-one,write-mix,day';
    await load(scenarios, 'smoke', '--resource', 'all', ...short);
    const { runs, skipped } = JSON.parse(read('report/report.json')) as LoadReport;
    const lists = runs.filter(({ scenario }) => scenario === 'list-shallow').map(({ resource }) => resource);
    expect(lists).toEqual(['/api/v1/categories', '/api/v1/products', '/api/v1/orders']);
    expect(skipped).toEqual(['list-include: /api/v1/categories has no relation to include']);
    for (const { scenario, records, failed, crossed } of runs) {
      expect({ scenario, records, failed, crossed }).toEqual({ scenario, records: 1_000, failed: 0, crossed: [] });
    }
  }, 300_000);

  it('go to a cluster as a manifest that has the scenario within', async () => {
    const { stdout } = await load('manifest', 'day', 'load', '--target', 'http://shop', '--kind', 'job');
    expect(stdout).toContain('"kind": "Job"');
  }, 60_000);
});

describe('the reference service', () => {
  const reference = join(directory, 'reference');

  it('is what `slipway new --sample` gives: sources, models, data and tests are those of this repository', async () => {
    const spec = `--package=${packed.tarball}`;
    await run('npx', ['--yes', spec, 'slipway', 'new', 'reference', '--sample', '--yes', '--no-install'], directory);
    const own = repositoryFiles(/^(src\/(main|app\.config)\.ts$|src\/modules\/|prisma\/|test\/modules\/)/);
    const made = filesOf(reference).filter(([file]) => /^(src|prisma|test\/modules|load-tests)\//.test(file));
    expect(made.map(([file]) => file).toSorted()).toEqual(own.toSorted());
    for (const [file, text] of made) expect(text, file).toBe(readFileSync(join(root, file), 'utf8'));
  }, 60_000);

  it('compiles and passes its tests as a service of the package', async () => {
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], reference);
    const { stdout } = await run('npm', ['run', 'check'], reference);
    expect(stdout).toMatch(/Test Files +\d+ passed(?: \| \d+ skipped)? \(\d+\)/);
  }, 400_000);
});

interface LoadReport {
  readonly runs: readonly {
    readonly scenario: string;
    readonly resource: string;
    readonly records: number;
    readonly failed: number;
    readonly crossed: readonly string[];
  }[];
  readonly skipped: readonly string[];
}

/** Every file of a service with its content, without packages and what is made of the rest. */
function filesOf(service: string): [string, string][] {
  const files = readdirSync(service, { recursive: true }) as string[];
  const own = files.filter((file) => !/^(node_modules|src\/generated|vendor|\.cache|data)/.test(file));
  return own
    .filter((file) => statSync(join(service, file)).isFile())
    .map((file) => [file, readFileSync(join(service, file), 'utf8')]);
}
