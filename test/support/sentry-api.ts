import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { whenDone } from '../../src/chassis/testing/when-done.ts';

/** A request to the API of Sentry: `POST /releases/`, below the organization. */
interface ApiCall {
  readonly what: string;
  readonly token: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it looks for in a body
  readonly body: any;
}

/** The part of Sentry's API that takes a release: its commits, and its files in pieces. */
export class SentryApi {
  readonly calls: ApiCall[] = [];
  /** The pieces that came, unpacked. */
  readonly pieces: Buffer[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  /** Listens on a free port of loopback until the end of the test. */
  static async start(): Promise<SentryApi> {
    const api = new SentryApi();
    await once(api.#server.listen(0, '127.0.0.1'), 'listening');
    whenDone(() => {
      api.#server.closeAllConnections();
      api.#server.close();
    });
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const path = decodeURIComponent(request.url ?? '').replace('/api/0/organizations/acme', '');
    const isFile = request.headers['content-type']?.startsWith('multipart/') ?? false;
    if (isFile) this.pieces.push(...filesOf(bytes, request.headers['content-type'] ?? ''));
    const body = isFile || bytes.length === 0 ? undefined : JSON.parse(String(bytes));
    this.calls.push({ what: `${request.method} ${path}`, token: request.headers.authorization, body });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(this.#answerTo(path, body)));
  }

  #answerTo(path: string, body?: { checksum: string; chunks: string[] }): object {
    if (path === '/chunk-upload/') return { ...chunks, url: `${this.url}/api/0/organizations/acme/chunk-upload/` };
    // At first it has none of what is to be put together.
    if (path === '/artifactbundle/assemble/') {
      return this.pieces.length === 0
        ? { state: 'not_found', missingChunks: body?.chunks }
        : { state: 'ok', missingChunks: [] };
    }
    const links = { regionUrl: this.url, organizationUrl: this.url };
    const release = { version: 'v', shortVersion: 'v', projects: [], status: 'open', dateCreated: new Date(0) };
    return path.startsWith('/releases/') ? release : { id: '1', slug: 'acme', name: 'acme', links, features: [] };
  }
}

const chunks = {
  ...{ chunkSize: 8_388_608, chunksPerRequest: 64, maxFileSize: 2_147_483_648, maxRequestSize: 33_554_432 },
  ...{ concurrency: 8, hashAlgorithm: 'sha1', compression: ['gzip'] },
  accept: ['debug_files', 'release_files', 'artifact_bundles', 'artifact_bundles_v2', 'sources'],
};

/** The files of a form. */
function filesOf(body: Buffer, type: string): Buffer[] {
  const boundary = `--${/boundary="?([^";]+)/.exec(type)?.[1]}`;
  const parts: Buffer[] = [];
  for (let at = body.indexOf(boundary); ; ) {
    const next = body.indexOf(boundary, at + boundary.length);
    if (next === -1) return parts;
    const begin = body.indexOf('\r\n\r\n', at) + 4;
    const file = body.subarray(begin, next - 2);
    parts.push(file[0] === 0x1f && file[1] === 0x8b ? gunzipSync(file) : file);
    at = next;
  }
}
