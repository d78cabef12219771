import { afterAll, describe, expect, it } from 'vitest';
import { killSpawned, SpawnedService } from '../support/spawn-service.ts';

afterAll(killSpawned);

const production = { NODE_ENV: 'production' };

/** Runs a command of the process on a fresh database, and gives its exit code and output. */
async function run(program: string[], env: Record<string, string> = production) {
  const child = new SpawnedService({ program: ['dist-test/main.js', ...program], env });
  let output = '';
  child.child.stdout?.on('data', (text) => (output += text));
  const { code } = await child.closed;
  return { code, output };
}

describe('the commands of the process', () => {
  it('migrate in production without the settings of any module', async () => {
    const { code, output } = await run(['migrate']);
    expect(output).toContain('Applied: ');
    expect(code).toBe(0);
  });

  it('say why they failed, in one line of the log, and exit with code 1', async () => {
    const { code, output } = await run(['migrate'], {
      ...production,
      DATABASE_URL: 'postgresql://a:secret@127.0.0.1:1/x',
    });
    expect(output).toMatch(/"level":"fatal".*"msg":"migrate failed"/);
    expect(output).not.toContain('secret');
    expect(code).toBe(1);
  });

  it('seed in production only when told how much', async () => {
    const { code, output } = await run(['seed']);
    expect(output).toContain('name --size small or --size full');
    expect(code).toBe(1);
  });

  it('have nothing to do without a database: migrating ends well, seeding does not', async () => {
    const without = { ...production, DATABASE_URL: 'none' };
    const [migrated, seeded] = await Promise.all([
      run(['migrate'], without),
      run(['seed', '--size', 'small'], without),
    ]);
    expect(migrated).toEqual({ code: 0, output: 'There is no database: DATABASE_URL is none.\n' });
    expect(seeded.output).toContain('Expected a database, found DATABASE_URL=none');
    expect(seeded.code).toBe(1);
  });

  it('are refused when unknown, with the names of those that are', async () => {
    const { code, output } = await run(['migrat']);
    expect(output).toContain('or one of migrate, seed; got');
    expect(code).toBe(1);
  });
});
