import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearMisses } from '../../errors/near-misses.ts';
import { packageDirectory } from '../service/package-file.ts';
import type { Finding } from './model-findings.ts';

/**
 * Whether the chart knows the values at the top of helm/values.yaml; `helm lint` looks at the rest. Undefined where the
 * service has no such file.
 *
 * @param root absolute path of the service
 */
export function chartFinding(root: string): Finding | undefined {
  const file = join(root, 'helm/values.yaml');
  if (!existsSync(file)) return undefined;
  const { properties } = JSON.parse(readFileSync(join(packageDirectory, 'helm/slipway/values.schema.json'), 'utf8'));
  const known = Object.keys(properties);
  const given = [...readFileSync(file, 'utf8').matchAll(/^([\w-]+):/gm)].map(([, name = '']) => name);
  const unknown = given.filter((name) => !known.includes(name));
  const what = 'chart values';
  if (unknown.length === 0) return { what, found: 'helm/values.yaml names what the chart knows' };
  const hints = unknown.map((name) => [name, ...nearMisses(name, known).map((near) => `meant ${near}?`)].join(' '));
  return {
    what,
    found: `helm/values.yaml names ${unknown.join(', ')}`,
    mend: `The chart knows no ${hints.join(', no ')}.`,
  };
}
