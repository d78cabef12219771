import request, { type Response, type Test } from 'supertest';
import { expect } from 'vitest';

/** Query parameters of a request; objects are sent as JSON, as the list contract wants them. */
export type Query = Record<string, string | number | object>;

/** A request under way: await it for its response, or expect its failure. */
export type TestRequest = PromiseLike<Response> & {
  /** Expects success with this status and gives the body's data. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the shape of what it asks for
  expectData(status?: number): Promise<any>;
  /** Expects the one error body with exactly this status, message and, when given, details. */
  expectError(status: number, message: string | RegExp, details?: unknown): Promise<Response>;
};

/** Who a client calls as: headers of each request, or the login that gives a token, which happens once. */
export interface Caller {
  headers?: Readonly<Record<string, string>>;
  login?: () => Promise<string>;
}

/** Calls an application over HTTP, as nobody unless a caller is given. */
export class TestClient {
  readonly #url: string;
  readonly #caller: Caller;
  #token: Promise<string> | undefined;

  constructor(url: string, caller: Caller = {}) {
    this.#url = url;
    this.#caller = caller;
  }

  get(path: string, query: Query = {}): TestRequest {
    const texts = Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]);
    return this.#send((server) => server.get(path).query(Object.fromEntries(texts)));
  }

  post(path: string, body?: object | string): TestRequest {
    return this.#send((server) => server.post(path).send(body));
  }

  put(path: string, body?: object | string): TestRequest {
    return this.#send((server) => server.put(path).send(body));
  }

  delete(path: string): TestRequest {
    return this.#send((server) => server.delete(path));
  }

  /** A file sent as multipart form data. */
  upload(path: string, field: string, content: Buffer, filename: string): TestRequest {
    return this.#send((server) => server.post(path).attach(field, content, { filename }));
  }

  /** Any other request, built with supertest. */
  send(build: (server: ReturnType<typeof request>) => Test): TestRequest {
    return this.#send(build);
  }

  /** The token that the login gave. @throws Error for a client without a login */
  async token(): Promise<string> {
    this.#token ??= this.#caller.login?.();
    if (this.#token === undefined) throw new Error('Expected a client with a login, found one without.');
    return this.#token;
  }

  #send(build: (server: ReturnType<typeof request>) => Test): TestRequest {
    const response = this.#perform(build);
    return Object.assign(response, {
      async expectData(status = 200) {
        const { body, status: actual } = await response;
        expect(actual, `the answer ${JSON.stringify(body)}`).toBe(status);
        expect(body).toMatchObject({ success: true });
        return body.data;
      },
      async expectError(status: number, message: string | RegExp, details?: unknown) {
        const answer = await response;
        expectErrorBody(answer, status, message);
        if (details !== undefined) expect(answer.body.details).toEqual(details);
        return answer;
      },
    });
  }

  async #perform(build: (server: ReturnType<typeof request>) => Test): Promise<Response> {
    const test = build(request(this.#url));
    if (this.#caller.headers) test.set(this.#caller.headers);
    if (this.#caller.login) test.set('Authorization', `Bearer ${await this.token()}`);
    return test;
  }
}

/** Expects the one error body and nothing else in it (spec.md: Error response body). */
export function expectErrorBody({ body, status, headers }: Response, expected: number, message: string | RegExp): void {
  expect(body).toMatchObject({ success: false, statusCode: expected });
  expect(status).toBe(expected);
  expect(headers['content-type']).toMatch(/^application\/json/);
  expect(Object.keys(body).filter((key) => !errorFields.includes(key))).toEqual([]);
  expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp);
  if (typeof message === 'string') expect(body.message).toBe(message);
  else expect(body.message).toMatch(message);
}

const errorFields = ['success', 'message', 'statusCode', 'timestamp', 'details'];
