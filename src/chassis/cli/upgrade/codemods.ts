import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deploymentFiles } from '../service/deployment-files.ts';
import type { ServicePlan } from '../service/package-file.ts';

/** A service that is upgraded. */
export interface UpgradedService extends Pick<ServicePlan, 'name' | 'slipway'> {
  /** Absolute path. */
  readonly root: string;
}

/** What a version has to change in services. */
export interface Codemod {
  /** The version that asks for it. */
  readonly since: string;
  readonly what: string;
  /** Files with their new texts, by their paths; none where there is nothing to do. */
  readonly files: (service: UpgradedService) => Record<string, string>;
}

/** In the order in which they run. A codemod changes nothing in a service that it has run on. */
export const codemods: readonly Codemod[] = [
  {
    since: '1.0.0',
    what: 'the image: a Dockerfile and its .dockerignore',
    files: ({ root, name, slipway }) => {
      const all = deploymentFiles({ name, slipway, auth: 'none', database: 'both' });
      const files = ['Dockerfile', '.dockerignore'].filter((file) => !existsSync(join(root, file)));
      return Object.fromEntries(files.map((file) => [file, all[file] ?? '']));
    },
  },
  {
    since: '1.0.0',
    what: 'the program waits for nothing at its top, because the build makes a script of it',
    files: ({ root }) => {
      const file = 'src/main.ts';
      const text = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '';
      const changed = text.replace(/^await (?=runService\()/m, 'void ');
      return changed === text ? {} : { [file]: changed };
    },
  },
];
