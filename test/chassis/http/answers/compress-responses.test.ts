import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { compressResponses } from '../../../../src/chassis/http/answers/compress-responses.ts';
import { sendData } from '../../../../src/chassis/http/answers/responses.ts';
import { bareApp } from '../bare-app.ts';

const app = bareApp([compressResponses(), (req, res) => sendData(res, 200, 'x'.repeat(Number(req.query.length)))]);

describe('compressResponses', () => {
  it.each(['gzip', 'br'])('compresses large bodies with %s for clients that accept it', async (encoding) => {
    const response = await request(app)
      .get('/?length=5000')
      .set('accept-encoding', encoding)
      .buffer(true)
      .parse(ignore);
    expect(response.headers['content-encoding']).toBe(encoding);
    expect(response.headers.vary).toBe('Accept-Encoding');
  });

  it('leaves small bodies as they are, with their length', async () => {
    const { headers } = await request(app).get('/?length=10').set('accept-encoding', 'gzip');
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers['content-length']).toBe('36');
  });

  it('leaves the bodies of clients that name no encoding as they are', async () => {
    const { headers, body } = await request(app).get('/?length=5000').unset('accept-encoding');
    expect(body.data).toHaveLength(5_000);
    expect(headers).not.toHaveProperty('content-encoding');
  });
});

/** superagent reads no brotli; only the headers matter here. */
function ignore(res: request.Response, done: (error: Error | null, body: unknown) => void): void {
  const stream = res as unknown as NodeJS.ReadableStream;
  stream.resume().on('end', () => done(null, ''));
}
