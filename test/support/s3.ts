import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/chassis/testing/fake-peer.ts';
import { skipped, tool } from '../chart/chart.ts';
import { TestServer } from './test-server.ts';

/** Why tests of S3 are skipped here; empty where they run. */
export const withoutS3 = skipped('versitygw');

const access = { id: 'slipway', secret: 'a secret of the tests' };

/** A real server of the S3 protocol on a free port, with one bucket, which can go away and come back with what it had. */
export class TestS3 extends TestServer {
  readonly #directory = mkdtempSync(join(tmpdir(), 'slipway-s3-'));
  readonly #objects = join(this.#directory, 'data');
  protected readonly program = {
    command: tool('versitygw') ?? 'versitygw',
    options: [
      ...['--access', access.id, '--secret', access.secret, '--port', `127.0.0.1:${this.port}`, '--quiet'],
      ...['posix', '--sidecar', join(this.#directory, 'attributes'), this.#objects],
    ],
    greeting: 'GET / HTTP/1.1\r\nHost: s3\r\n\r\n',
  };

  /** A server on a port that nobody has, not yet started. */
  static async prepare(): Promise<TestS3> {
    const server = new TestS3(await freePort());
    for (const folder of ['attributes', join('data', 'files')]) {
      mkdirSync(join(server.#directory, folder), { recursive: true });
    }
    return server;
  }

  /** What a service needs to store its files here. */
  get settings() {
    return {
      UPLOAD_S3_BUCKET: 'files',
      UPLOAD_S3_PREFIX: 'shop/',
      UPLOAD_S3_REGION: 'us-east-1',
      UPLOAD_S3_ENDPOINT: `http://127.0.0.1:${this.port}`,
      UPLOAD_S3_PATH_STYLE: 'true',
      UPLOAD_S3_ACCESS_KEY_ID: access.id,
      UPLOAD_S3_SECRET_ACCESS_KEY: access.secret,
    };
  }

  /** Keys of all objects in the bucket. */
  keys(): string[] {
    const entries = readdirSync(join(this.#objects, 'files'), { recursive: true, withFileTypes: true });
    const root = join(this.#objects, 'files/');
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length));
  }

  /** Kills it and removes what it has stored. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
