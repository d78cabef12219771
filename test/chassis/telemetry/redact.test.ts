import { describe, expect, it } from 'vitest';
import { boundText, LogMasks, maskStack, maskText, redact, redactUrl } from '../../../src/chassis/telemetry/redact.ts';
import { heapInUse } from '../../support/heap-in-use.ts';

describe('redactUrl', () => {
  it.each([
    ['/x?%7B%22password%22:%22s3cret%22%7D', '/x?[redacted]'],
    ['/x?{"password":"s3cret"}', '/x?[redacted]'],
    ['/x?{"password":"s3=cret"}&a=1', '/x?[redacted]&a=1'],
    ['/x?{"name":"a"}', '/x?{"name":"a"}'],
    ['/x?token=abc&page=2', '/x?token=[redacted]&page=2'],
    ['/x?page=2&access_token=abc#f', '/x?page=2&access_token=[redacted]#f'],
    ['/x?code=1&country_code=de', '/x?code=[redacted]&country_code=de'],
    ['/x?sort=author&API-KEY=k', '/x?sort=author&API-KEY=[redacted]'],
    ['http://user:word@host/x', 'http://[redacted]@host/x'],
    ['/tokens/7', '/tokens/7'],
    ['/x?%70assword=a&page=1', '/x?%70assword=[redacted]&page=1'],
    ['/x?where={"refreshToken":"a"}', '/x?where=[redacted]'],
    ['/x?where=%7B%22refresh%54oken%22%3A%22a%22%7D', '/x?where=[redacted]'],
    ['/x?where={"name":"a"}&page', '/x?where={"name":"a"}&page'],
    ['/x?a=%zz', '/x?a=%zz'],
    ['/x?code_verifier=a&oauth_verifier=b', '/x?code_verifier=[redacted]&oauth_verifier=[redacted]'],
    ['/x?SAMLResponse=a&SAMLart=b&bearer=c', '/x?SAMLResponse=[redacted]&SAMLart=[redacted]&bearer=[redacted]'],
    ['/x?recoveryCode=a&userPin=b&countryCode=c', '/x?recoveryCode=[redacted]&userPin=[redacted]&countryCode=c'],
    ['/x?accessKey=a&signing_key=b&sortKey=c', '/x?accessKey=[redacted]&signing_key=[redacted]&sortKey=c'],
    ['/x?pw=a&cvv=b&cardNumber=c&spinning=d', '/x?pw=[redacted]&cvv=[redacted]&cardNumber=[redacted]&spinning=d'],
    [
      '/x?user_totp=a&otp[]=b&user[pin]=c&a.sid=d',
      '/x?user_totp=[redacted]&otp[]=[redacted]&user[pin]=[redacted]&a.sid=[redacted]',
    ],
    ['/x?client_assertion=a&isVerifier=b', '/x?client_assertion=[redacted]&isVerifier=b'],
    ['/x?mfa=a&totp=b&format=c', '/x?mfa=[redacted]&totp=[redacted]&format=c'],
    ['/x?jwt=a&otp=b&pwd=c&pin=d', '/x?jwt=[redacted]&otp=[redacted]&pwd=[redacted]&pin=[redacted]'],
    ['/x?session=a&sessionId=b&sid=c', '/x?session=[redacted]&sessionId=[redacted]&sid=[redacted]'],
    ['/x?refresh=a&user_pin=b&Ticket=c', '/x?refresh=[redacted]&user_pin=[redacted]&Ticket=[redacted]'],
    ['/x?pass=a&access=b&db_pass=c&bypass=1', '/x?pass=[redacted]&access=[redacted]&db_pass=[redacted]&bypass=1'],
    ['/x?reset_code=a&Invite-Code=b&zip-code=1', '/x?reset_code=[redacted]&Invite-Code=[redacted]&zip-code=1'],
    ['//user:word@host/x', '//[redacted]@host/x'],
    ['nats://u:p@h1,nats://u:p@h2', 'nats://[redacted]@h1,nats://[redacted]@h2'],
    ['postgres://u:wo/rd@h/db', 'postgres://[redacted]@h/db'],
    ['http://host:80/a@b', 'http://host:80/a@b'],
    ['/x;token=abc/password=a/b', '/x;token=[redacted]/password=[redacted]/b'],
    ['/x/passwor%64%3Dabc', '/x/passwor%64=[redacted]'],
    ['/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '/v/[redacted]'],
    ['/v?t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc&a=1', '/v?t=[redacted]&a=1'],
    ['/v?u=%2Fv%2F%65yJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '/v?u=[redacted]'],
    ['/v?eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '/v?[redacted]'],
    ['/v/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc=1', '/v/[redacted]'],
    [`/v/${'aB3-_'.repeat(17)}x`, '/v/[redacted]'],
    [`/v?t=${'aB3-_'.repeat(17)}x&a=1`, '/v?t=[redacted]&a=1'],
    [`/v/${'aB3-_'.repeat(15)}`, `/v/${'aB3-_'.repeat(15)}`],
    ['/x?q=Bearer%20c2VjcmV0LXRva2VuLXZhbHVl&a=1', '/x?q=[redacted]&a=1'],
    ['/x?api+key=a&API.KEY=b&private%20key=c', '/x?api+key=[redacted]&API.KEY=[redacted]&private%20key=[redacted]'],
    ['/x?q=basic+YWRhOmNvcnJlY3QtaG9yc2U=', '/x?q=[redacted]'],
    ['/x/Bearer%20c2VjcmV0LXRva2VuLXZhbHVl/y', '/x/[redacted]/y'],
    ['/x?bearer+c2VjcmV0LXRva2VuLXZhbHVl', '/x?[redacted]'],
    ['/x?Bearer+c2VjcmV0LXRva2VuLXZhbHVl&Basic+YWRhOmNvcnJlY3QtaG9yc2U=', '/x?[redacted]&[redacted]'],
    ['/x?q=basic+training&r=bearer+bonds', '/x?q=basic+training&r=bearer+bonds'],
    [`/x?q=shop_${'0f'.repeat(52)}&a=1`, '/x?q=[redacted]&a=1'],
    [`/x/shop_${'0f'.repeat(52)}/y`, '/x/[redacted]/y'],
    [`/x?q=shop_${'0f'.repeat(48)}`, '/x?q=[redacted]'],
    [`/x/shop_${'0f'.repeat(40)}`, '/x/[redacted]'],
    [`/x/file_${'0f'.repeat(32)}`, `/x/file_${'0f'.repeat(32)}`],
    [`/x?q=shop_${'0f'.repeat(16)}`, `/x?q=shop_${'0f'.repeat(16)}`],
    ['/x#access_token=abc&page=1', '/x#access_token=[redacted]&page=1'],
    ['/x?a=1?token=b', '/x?a=[redacted]'],
    ['/x?next=https%3A%2F%2Fy%2F%3Ftoken%3Dabc', '/x?next=[redacted]'],
    ['/x?next=https%3A%2F%2Fu%3Apw%40y%2F&page=2', '/x?next=[redacted]&page=2'],
    ['/x?next=https%3A%2F%2Fy%2F%40ann', '/x?next=https%3A%2F%2Fy%2F%40ann'],
    ['/x?next=%252Fy%253Ftoken%253Dabc&a=1', '/x?next=[redacted]&a=1'],
    ['/x?passwor%2564=abc', '/x?passwor%2564=[redacted]'],
    ['/x/token%25253Dabc/y', '/x/token=[redacted]/y'],
    ['/x?rate=100%25&b=50%2525', '/x?rate=100%25&b=50%2525'],
    ['/x?spinning=1&side=left&postcode=2', '/x?spinning=1&side=left&postcode=2'],
  ])('masks %s as %s', (url, masked) => {
    expect(redactUrl(url)).toBe(masked);
  });
});

describe('maskText', () => {
  it.each([
    ['login failed: password=hunter2, user=ada', 'login failed: password=[redacted], user=ada'],
    ['form: user[password]=hunter2&a=b', 'form: user[password]=[redacted]&a=b'],
    ['db_password = hunter2', 'db_password =[redacted]'],
    ['secret="two words" next', 'secret=[redacted] next'],
    ['{"password":"hunter2","name":"x"}', '{"password":[redacted],"name":"x"}'],
    ["{ otp: '123', pin: 4711 }", '{ otp:[redacted], pin:[redacted] }'],
    ['wrong password: hunter2', 'wrong password:[redacted]'],
    ['Invalid password: expected at least 12 characters', 'Invalid password: expected at least 12 characters'],
    ['with jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1 sent', 'with jwt [redacted] sent'],
    [`with ${'aB3-_'.repeat(17)}x sent`, 'with [redacted] sent'],
    ['curl/8 (token=abc) Bearer xyz', 'curl/8 (token=[redacted]) Bearer [redacted]'],
    ['GET http://u:p@host/x?sid=1 failed', 'GET http://[redacted]@host/x?sid=[redacted] failed'],
    [`key shop_${'0f'.repeat(52)} sent`, 'key shop[redacted] sent'],
    [`key shop_${'0f'.repeat(51)}0`, 'key shop[redacted]'],
    ['at 12:30 side=left', 'at 12:30 side=left'],
    ['pass=hunter2 and bypass=1', 'pass=[redacted] and bypass=1'],
    ['no answer of ada:hunter2@db:5432', 'no answer of [redacted]@db:5432'],
    ['no answer of //ada:hunter2@db', 'no answer of //[redacted]@db'],
    ['GET /x/token=abc;v=1 failed', 'GET /x/token=[redacted];v=1 failed'],
    ['to mailto:ada@example.com', 'to mailto:ada@example.com'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko', 'Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko'],
  ])('writes %s as %s', (text, masked) => {
    expect(maskText(text)).toBe(masked);
    expect(maskText(masked)).toBe(masked);
  });

  it('keeps nothing of what it cuts off in memory', () => {
    const before = heapInUse();
    const cut = Array.from({ length: 50 }, (_, index) =>
      boundText(Buffer.alloc(1_000_000, `${index % 10}`).toString('latin1')),
    );
    expect(heapInUse() - before).toBeLessThan(10_000_000);
    expect(cut).toHaveLength(50);
  });

  it('cuts what is too long, and keeps the frames of a stack', () => {
    const error = new Error('x'.repeat(1_000_000));
    expect(maskText(error.message)).toMatch(/^x{8192}… \(991808 characters left out\)$/);
    expect(maskStack(error.stack ?? '')).toMatch(/^Error: x+… .*\n {4}at .*redact\.test/s);
  });
});

it.each([
  'secret:',
  'password="',
  "pwd='",
  'eyJ',
  'eyJa.',
  'token',
  'token ',
  'a-',
  '=',
  'Bearer ',
  'pin: x ',
  '_0f',
  'a',
])('maskText takes little time for a text of %j', (unit) => {
  const started = performance.now();
  for (let count = 0; count < 10; count += 1) maskText(unit.repeat(10_000));
  expect(performance.now() - started).toBeLessThan(500);
});

it.each([
  '?token',
  '?',
  '=',
  '&a=',
  '%',
  '%25',
  '%2525',
  '{"',
  'passw',
  '//@',
  '//a:b',
  'a:b@',
  '#',
  ';',
  '/=',
  '_code',
])('redactUrl takes time in proportion to a text of %j', (unit) => {
  const started = performance.now();
  redactUrl(`/x?${unit.repeat(100_000)}`);
  redactUrl(unit.repeat(100_000));
  expect(performance.now() - started).toBeLessThan(500);
});

it.each(['?%=%&', '?%ff=%ff&', '/%=/', '/%=;'])(
  'redactUrl makes no error for each part of %j that is malformed',
  (unit) => {
    // Compared with plain parts, because machines differ: an error for each takes thirty times as long as those do.
    const best = (parts: string) => {
      const url = `/x${unit.charAt(0)}token=1&${parts.repeat(100_000)}`;
      const times = Array.from({ length: 3 }, () => {
        const started = performance.now();
        redactUrl(url);
        return performance.now() - started;
      });
      return Math.min(...times);
    };
    const parts = unit.slice(1);
    expect(best(parts)).toBeLessThan(20 * best(parts.replaceAll('%', 'a')));
  },
);

it.each([
  ['/x?tok%65n%=abc&a=%', '/x?tok%65n%=[redacted]&a=%'],
  ['/x?%ff&tok%65n=abc', '/x?%ff&tok%65n=[redacted]'],
  ['/x?a=%7B%22token%22%ff', '/x?a=[redacted]'],
])('redactUrl masks %s beside what is malformed', (url, masked) => {
  expect(redactUrl(url)).toBe(masked);
});

describe('redact', () => {
  it('gives back the same object where nothing is secret', () => {
    const line = { a: 1, b: { c: [1] } };
    expect(redact(line)).toBe(line);
  });

  it('masks in lists and in instances of classes', () => {
    class Account {
      password = 'p';
    }
    const line = redact({ users: [{ token: 't' }, new Account()], tokens: ['a'], times: [new Date(0)] });
    expect(line).toEqual({
      users: [{ token: '[redacted]' }, { password: '[redacted]' }],
      tokens: '[redacted]',
      times: [new Date(0)],
    });
  });

  it('masks what a module names, in URLs too', () => {
    const masks = new LogMasks();
    masks.add('iban', 'Phone');
    expect(redact({ customer: { IBAN: 'x', phone: 'y', phones: 1 } }, masks)).toEqual({
      customer: { IBAN: '[redacted]', phone: '[redacted]', phones: 1 },
    });
    expect(redactUrl('/x?iban=1&b=2', masks)).toBe('/x?iban=[redacted]&b=2');
  });

  it('masks the names of secrets and cuts what is too long, in lists too', () => {
    const fields = redact({ userPin: 1, otpCode: 2, codeVerifier: 'a', spin: 3, statusCode: 4 });
    const masked = { userPin: '[redacted]', otpCode: '[redacted]', codeVerifier: '[redacted]' };
    expect(fields).toEqual({ ...masked, spin: 3, statusCode: 4 });
    const { pwd, otp, sid, note, list, bytes } = redact({
      pwd: 'a',
      otp: 1,
      sid: 'c',
      note: 'n'.repeat(10_000),
      list: Array.from({ length: 5000 }, (_, index) => index),
      bytes: Buffer.alloc(10_000),
    });
    expect([pwd, otp, sid]).toEqual(['[redacted]', '[redacted]', '[redacted]']);
    expect(note).toMatch(/^n{8192}… /);
    expect([list.length, list.at(-1)]).toEqual([1001, '4000 more']);
    expect(bytes).toBe('[Buffer of 10000 bytes]');
  });

  it.each([
    ['{"refreshToken":"s3cret"}', '{"refreshToken":[redacted]}'],
    ['{"email":"a@b.c","password":"s3cret', '{"email":"a@b.c","password":[redacted]'],
    [`user.eyJhbGciOiJI.eyJzdWIi.c2ln`, 'user.[redacted]'],
    [`service_${'0a'.repeat(52)}`, 'service[redacted]'],
    ['Bearer s3cret', 'Bearer [redacted]'],
    ['lines.0.productId', 'lines.0.productId'],
  ])('masks what the name %s holds that a client made up, and where an issue tells it', (name, masked) => {
    expect(redact({ details: { errors: { [name]: 1, name: 2 } } })).toEqual({
      details: { errors: { [masked]: expect.anything(), name: 2 } },
    });
    expect(redact({ details: { issues: [{ path: name }] } })).toEqual({ details: { issues: [{ path: masked }] } });
  });

  it('ends on a cycle', () => {
    const line: Record<string, unknown> = { password: 'x' };
    line.self = line;
    expect(redact(line).password).toBe('[redacted]');
  });
});
