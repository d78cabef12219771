import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import process from 'node:process';
import { promisify } from 'node:util';
import { root } from '../house/repository.ts';

const run = promisify(execFile);
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Both runtimes that the image may stand on. */
export const runtimes = {
  slim: 'docker.io/library/node:24-bookworm-slim',
  distroless: 'gcr.io/distroless/nodejs24-debian12:nonroot',
};

/** Why an image on `runtime` cannot be built here, for the title of a test; nothing where it can. */
export function skippedWithout(runtime: string): string {
  if (!process.env['TEST_IMAGE']) return ' (skipped: npm run test:image runs it)';
  const missing = ['podman', 'buildah'].filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  if (missing.length > 0) return ` (skipped: no ${missing.join(', no ')})`;
  const needed = [runtimes.slim, runtime].filter(
    (image) => spawnSync('podman', ['image', 'exists', image]).status !== 0,
  );
  return needed.length === 0 ? '' : ` (skipped: no base image ${needed[0]}; podman pull gets it)`;
}

/** Builds the image of this tree on a runtime, from what is on this machine already, and gives its name. */
export async function buildImage(runtime: string, tag: string): Promise<string> {
  const name = `localhost/slipway-test:${tag}`;
  const labels = { RUNTIME: runtime, VERSION: '1.2.3', REVISION: 'abcdef0', SOURCE: 'https://example.com/slipway' };
  const options = Object.entries(labels).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  if (existsSync(certificates)) options.push('--secret', `id=ca,src=${certificates}`);
  const limits = ['--ulimit', 'nofile=16384:16384', '--ulimit', 'nproc=8192:8192'];
  // Isolation by chroot and the host's network work inside of containers too; HEALTHCHECK exists in Docker's format only.
  const build = ['bud', '--isolation', 'chroot', '--network', 'host', '--pull-never', '--layers', '--format', 'docker'];
  await run('buildah', [...build, ...limits, ...options, '-t', name, root], { maxBuffer: 1e8 });
  return name;
}

/** What podman says, without the warnings of a machine that has no systemd. */
export function podman(...args: string[]): string {
  return execFileSync('podman', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1e8 }).trim();
}

/** A container that runs as a pod under the restricted policy does: no capability, no right to write but in mounts. */
export class RestrictedContainer {
  readonly name: string;

  constructor(image: string, name: string, settings: Record<string, string>, ...command: string[]) {
    this.name = name;
    const env = Object.entries(settings).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    const root = ['--read-only', '--read-only-tmpfs=false', '--tmpfs', '/tmp:rw,noexec,nosuid,nodev,size=64m'];
    const rights = ['--user', '65532:65532', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
    const limits = ['--memory', '256m', '--memory-swap', '256m', '--cpus', '0.5', '--pids-limit', '128'];
    const ulimits = ['--ulimit', 'nofile=16384:16384', '--ulimit', 'nproc=8192:8192'];
    // Anew for each container, and owned by the image's user, as a volume with fsGroup is.
    const data = ['--volume', `${name}-data:/data`];
    podman(
      'run',
      '--detach',
      '--name',
      name,
      '--network',
      'host',
      ...root,
      ...rights,
      ...limits,
      ...ulimits,
      ...data,
      ...env,
      image,
      ...command,
    );
  }

  /** The exit code, once it has ended. */
  async ended(): Promise<number> {
    const { stdout } = await run('podman', ['wait', this.name]);
    return Number(stdout);
  }

  logs(): string {
    return spawnSync('podman', ['logs', this.name], { encoding: 'utf8' }).stdout;
  }

  inspect(format: string): string {
    return podman('inspect', '--format', format, this.name);
  }

  kill(signal: string): void {
    podman('kill', '--signal', signal, this.name);
  }

  remove(): void {
    podman('rm', '--force', '--volumes', this.name);
    spawnSync('podman', ['volume', 'rm', '--force', `${this.name}-data`]);
  }
}

/** A port of this machine that nothing listens on. */
export async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
