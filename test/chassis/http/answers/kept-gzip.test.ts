import request from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { KeptGzip } from '../../../../src/chassis/http/answers/kept-gzip.ts';
import { bareApp } from '../bare-app.ts';

function appOf(read: () => Promise<Buffer>) {
  const kept = new KeptGzip(read);
  return bareApp([async (req, res) => void ((await kept.answer(req, res.type('text'))) || res.send('plain'))]);
}

describe('a body that is compressed once', () => {
  it('is read once for all who take gzip, and for nobody else', async () => {
    const read = vi.fn(async () => Buffer.from('a body'));
    const app = appOf(read);
    await request(app).get('/').set('Accept-Encoding', 'br').expect(200, 'plain').expect('vary', 'Accept-Encoding');
    const many = `${'a,'.repeat(1000)}gzip`;
    await request(app).get('/').set('Accept-Encoding', many).expect(200, 'plain');
    expect(read).not.toHaveBeenCalled();
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
