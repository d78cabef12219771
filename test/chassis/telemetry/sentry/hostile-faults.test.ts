import { describe, expect, it } from 'vitest';
import { InternalServerErrorException } from '../../../../src/chassis/errors/exceptions.ts';
import { SentryIngest } from '../../../../src/chassis/testing/sentry-ingest.ts';
import { aContext, sentryTo } from './sentry-to.ts';

/** What the ingest got for one fault, as it came. */
async function sent(fault: unknown): Promise<string> {
  await using ingest = await SentryIngest.start();
  const sentry = await sentryTo(ingest.dsn);
  if (fault instanceof InternalServerErrorException) sentry.monitor.capture(fault, aContext());
  else sentry.captureCrash(fault);
  await ingest.received(1);
  await sentry.close(2_000);
  return ingest.envelopes.join('\n');
}

/** Written so, because an event shows the lines of code around. */
const secret = ['hun', 'ter'].join('');

/** An error that says what it is only by raising another. */
function trapped(): Error {
  const fail = () => {
    throw new Error('a trap');
  };
  const error = new Error('seen');
  for (const name of ['message', 'name', 'stack', 'cause', 'code']) Object.defineProperty(error, name, { get: fail });
  return error;
}

describe('an event of Sentry', () => {
  it('stays small and is made in a moment, however long the message', async () => {
    const began = performance.now();
    const cause = new Error(`${'x y '.repeat(5_000_000)} password=${secret}`);
    const envelope = await sent(
      new InternalServerErrorException(`${'at a (b:1:1)\n'.repeat(1_500_000)}`, undefined, { cause }),
    );
    expect(envelope.length).toBeLessThan(100_000);
    // Work that grows with the square of 20 MB would take days.
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('holds no secret of a message, of a cause at any depth, of a name or of a field of an error', async () => {
    let fault = new Error(`password=${secret}`, { cause: `token=${secret}` });
    for (let depth = 1; depth < 6; depth += 1) fault = new Error(`password=${secret}${depth}`, { cause: fault });
    const several = () =>
      new AggregateError([new Error(`pwd=${secret}`), new Error(`Bearer ${secret}${secret}`)], `api_key=${secret}`);
    fault.name = `Failed at postgresql://user:${secret}@db/app`;
    Object.assign(fault, { password: `${secret}`, config: { headers: { authorization: `${secret}` } } });
    for (const each of [fault, several(), new Error('outer', { cause: several() })])
      expect(await sent(each)).not.toContain(secret);
  });

  it('comes of causes without end, of themselves or of each other', async () => {
    let deep = new Error('bottom');
    for (let depth = 0; depth < 100_000; depth += 1) deep = new Error('deep', { cause: deep });
    const [one, other] = [new Error('one'), new Error('other')];
    Object.assign(one, { cause: other });
    Object.assign(other, { cause: one });
    const made = new Error('made anew');
    Object.defineProperty(made, 'cause', { get: () => Object.assign(new Error('again'), { cause: made }) });
    const many = new AggregateError(
      Array.from({ length: 100_000 }, () => new Error('one of many')),
      'many',
    );
    for (const fault of [deep, one, made, many]) expect((await sent(fault)).length).toBeLessThan(200_000);
  });

  it('comes of an error and of a context whose fields raise errors', async () => {
    expect(await sent(trapped())).toContain('"exception"');
    expect(await sent(new InternalServerErrorException('outer', undefined, { cause: trapped() }))).toContain('outer');
    const context = Object.defineProperty({}, 'field', {
      enumerable: true,
      get: () => {
        throw new Error('a trap');
      },
    });
    expect(await sent(new InternalServerErrorException('with a trap', undefined, { context }))).toContain(
      'with a trap',
    );
  });
});
