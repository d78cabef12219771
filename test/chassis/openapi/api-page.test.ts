import express, { type Express } from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { compressResponses } from '../../../src/chassis/http/answers/compress-responses.ts';
import { apiPage } from '../../../src/chassis/openapi/api-page.ts';
import { serveDocument } from '../../../src/chassis/openapi/serve-document.ts';
import { info } from './shop.ts';

/** An app under the default security headers with nothing but the page. */
function appWith(changed: Partial<typeof info> = {}): Express {
  const app = express().disable('etag').use(helmet());
  app.get('/api-docs.json', serveDocument({ openapi: '3.0.0' }));
  return app.use(apiPage({ ...info, ...changed }, './api-docs.json'));
}

const app = appWith();

describe('/api-docs', () => {
  it('is a page whose links are relative', async () => {
    const { text } = await request(app).get('/api-docs').expect(200).expect('content-type', /html/);
    const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect(link).toMatch(/^\.\/api-docs\//);
  });

  it('loads everything that it links to, and the document', async () => {
    const { text } = await request(app).get('/api-docs');
    for (const [, link = ''] of text.matchAll(/(?:src|href)="\.(\/[^"]+)"/g)) await request(app).get(link).expect(200);
    const { text: script } = await request(app).get('/api-docs/swagger-ui-init.js');
    expect(script).toContain('"swaggerUrl": "./api-docs.json"');
  });

  it('allows neither inline scripts nor any other origin', async () => {
    const { headers, text } = await request(app).get('/api-docs');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-/,
    );
    expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:/);
    expect(text).not.toMatch(/<script>|\sstyle=|\son\w+=/);
  });

  it('may send requests to the server that the document names', async () => {
    const { headers } = await request(appWith({ serverUrl: 'https://api.example.com/v1' })).get('/api-docs');
    expect(headers['content-security-policy']).toContain("connect-src 'self' https://api.example.com;");
  });

  it('leaves the policy of everything else as it was', async () => {
    const { headers } = await request(app).get('/api-docs.json');
    expect(headers['content-security-policy']).toContain("default-src 'self'");
  });

  it('is found with a slash at its end by a relative redirect', async () => {
    await request(app).get('/api-docs/').expect(308).expect('location', '../api-docs');
  });

  it('is so without a look at the media types of the request, which may be thousands', async () => {
    const answer = await request(app).get('/api-docs/').set('Accept', 'a/b,'.repeat(3_000)).expect(308);
    expect([answer.headers.vary, answer.text]).toEqual([undefined, '']);
  });

  it('lets browsers keep its assets', async () => {
    await request(app).get('/api-docs/swagger-ui.css').expect('cache-control', 'public, max-age=86400');
  });

  it.each(['swagger-ui.css', 'swagger-ui-bundle.js'])('has nobody compress %s for each who asks', async (name) => {
    const compressing = express().use(compressResponses()).use(app);
    const ask = (encoding: string) => request(compressing).get(`/api-docs/${name}`).set('Accept-Encoding', encoding);
    const kept = await ask('gzip, br').expect('content-encoding', 'gzip');
    const plain = await ask('br').expect('cache-control', 'public, max-age=86400, no-transform');
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(kept.text ?? String(kept.body)).toBe(plain.text ?? String(plain.body));
    await ask('gzip').set('If-None-Match', kept.headers.etag!).expect(304);
  });

  it.each(['index.html', 'swagger-initializer.js', 'package.json', '../package.json', 'oauth2-redirect.html'])(
    'serves nothing of the package but the page: no %s',
    async (name) => {
      await request(app).get(`/api-docs/${name}`).expect(404);
    },
  );

  it('shows a title as text', async () => {
    const { text } = await request(appWith({ title: '<b>$& & Sons</b>' })).get('/api-docs');
    expect(text).toContain('<title>&#60;b&#62;&#36;&#38; &#38; Sons&#60;/b&#62;</title>');
  });
});

describe('/api-docs.json', () => {
  it('is answered with 304 to a client that has it', async () => {
    const { headers, body } = await request(app).get('/api-docs.json').expect(200).expect('content-type', /json/);
    expect(body).toEqual({ openapi: '3.0.0' });
    await request(app).get('/api-docs.json').set('If-None-Match', headers.etag!).expect(304);
  });

  it('is compressed for nobody anew', async () => {
    const compressing = express().use(compressResponses({ budgetBytes: 0 }));
    compressing.get('/api-docs.json', serveDocument({ text: 'x'.repeat(5000) }));
    const ask = (encoding: string) => request(compressing).get('/api-docs.json').set('Accept-Encoding', encoding);
    const [kept, plain] = [await ask('gzip').expect('content-encoding', 'gzip'), await ask('br')];
    expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, kept.body]);
  });
});
