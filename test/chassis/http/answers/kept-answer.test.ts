import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { KeptAnswer } from '../../../../src/chassis/http/answers/kept-answer.ts';
import { bareApp } from '../bare-app.ts';

function appOf(read: () => Promise<Buffer>) {
  const kept = new KeptAnswer(read);
  return bareApp([(req, res) => kept.answer(req, res.type('text'))]);
}

describe('a body that is read and compressed once', () => {
  it('is sent as it is to who takes no gzip, or names more encodings than any client', async () => {
    const app = appOf(async () => Buffer.from('a body'));
    for (const encodings of ['br', `${'a,'.repeat(1000)}gzip`]) {
      const { text, headers } = await request(app).get('/').set('Accept-Encoding', encodings).expect(200);
      expect([text, headers['content-encoding']]).toEqual(['a body', undefined]);
      expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'cache-control': 'no-cache, no-transform' });
      await request(app)
        .get('/')
        .set('If-None-Match', headers.etag ?? '')
        .set('Accept-Encoding', encodings)
        .expect(304);
    }
  });

  it('is read once for all', async () => {
    const read = vi.fn(async () => Buffer.from('a body'));
    const app = appOf(read);
    await request(app).get('/').set('Accept-Encoding', 'br').expect(200, 'a body');
    const ask = () => request(app).get('/').set('Accept-Encoding', 'br, gzip').expect(200, 'a body');
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', 'gzip', 'gzip']);
    expect(read).toHaveBeenCalledOnce();
  });

  it('is read again where it could not be read', async () => {
    const read = vi.fn(async () => Buffer.from('a body')).mockRejectedValueOnce(new Error('not there'));
    const app = appOf(read);
    await request(app).get('/').set('Accept-Encoding', 'gzip').expect(500);
    await request(app).get('/').set('Accept-Encoding', 'gzip').expect(200, 'a body');
  });
});
