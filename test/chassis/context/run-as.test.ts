import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../src/chassis/context/principal.ts';
import {
  currentPrincipal,
  isUnscoped,
  runOutsideRequest,
  runWithRequestContext,
  setPrincipal,
} from '../../../src/chassis/context/request-context.ts';
import { runAs, unscoped } from '../../../src/chassis/context/run-as.ts';
import { createService } from '../../../src/chassis/index.ts';
import { memoryLog } from '../http/bare-app.ts';

const ann: Principal = { userId: 'ann', roles: new Set(['admin']), scopes: new Set() };
const bob: Principal = { userId: 'bob', roles: new Set(), scopes: new Set(['orders:read']), tenantId: 't2' };

function aRequest<T>(work: () => T): T {
  return runWithRequestContext({ requestId: 'r1', method: 'GET', url: '/x', startTime: new Date() }, work);
}

/** Who acts, and whether row scopes hold. */
const acting = () => [currentPrincipal()?.userId, isUnscoped()];

describe('currentPrincipal', () => {
  it('is who the guard found, from then on and in everything that the request begins', async () => {
    await aRequest(async () => {
      expect(currentPrincipal()).toBeUndefined();
      await Promise.resolve().then(() => setPrincipal(ann));
      expect(currentPrincipal()).toBe(ann);
      expect(await new Promise((resolve) => setImmediate(() => resolve(currentPrincipal())))).toBe(ann);
      expect(runOutsideRequest(currentPrincipal)).toBeUndefined();
    });
    expect(currentPrincipal()).toBeUndefined();
  });

  it('is refused to a guard that no request surrounds', () => {
    expect(() => setPrincipal(ann)).toThrow('guards run behind the request pipeline');
  });
});

describe('runAs and unscoped', () => {
  it('end with their work, and the principal of the innermost acts', async () => {
    await aRequest(async () => {
      setPrincipal(ann);
      await runAs(bob, async () => {
        expect(acting()).toEqual(['bob', false]);
        await unscoped('a test', async () => {
          await Promise.resolve();
          expect(acting()).toEqual(['bob', true]);
          expect(runAs(ann, acting)).toEqual(['ann', false]);
        });
        expect(acting()).toEqual(['bob', false]);
      });
      expect(acting()).toEqual(['ann', false]);
      expect(unscoped('a test', acting)).toEqual(['ann', true]);
    });
    expect(unscoped('a test', () => aRequest(acting))).toEqual([undefined, false]);
  });

  it('hold for what is gone through after them, whoever does so, and for no other', async () => {
    async function* told() {
      try {
        for (;;) {
          await Promise.resolve();
          yield acting();
        }
      } finally {
        ended.push(acting());
      }
    }
    function* heard() {
      yield acting();
    }
    const ended: unknown[] = [];
    await unscoped('a test', async () => {
      const given = [
        runAs(bob, told),
        await runAs(bob, async () => told()),
        runAs(ann, () => runAs(bob, told)),
        runAs(bob, () => told()),
      ];
      for (const one of given) {
        expect([(await one.next()).value, acting()]).toEqual([
          ['bob', false],
          [undefined, true],
        ]);
        for await (const now of one) {
          expect(now).toEqual(['bob', false]);
          break;
        }
      }
      expect(ended).toEqual(given.map(() => ['bob', false]));
      expect([...runAs(bob, heard)]).toEqual([['bob', false]]);
    });
    const free = runAs(bob, () => unscoped('a test', told));
    expect((await runAs(ann, () => free.next())).value).toEqual(['bob', true]);
  });

  it('write who acts, in whose name and why into the log, and nothing else of a principal', () => {
    const { logger, lines } = memoryLog('info');
    const service = createService({ modules: [], server: { port: 0 } }, { env: { DATABASE_URL: 'none' }, logger });
    service.run(() => aRequest(() => runAs(bob, () => unscoped('nightly totals', acting))));
    expect(lines).toMatchObject([
      { level: 'info', msg: 'acting as another principal', actsAs: 'bob', requestId: 'r1' },
      { level: 'info', msg: 'row scope lifted', userId: 'bob', reason: 'nightly totals', requestId: 'r1' },
    ]);
    expect(JSON.stringify(lines)).not.toContain('orders:read');
  });

  it('say nothing of a scope that no model has', () => {
    const { logger, lines } = memoryLog('info');
    const service = createService({ modules: [], server: { port: 0 } }, { env: { DATABASE_URL: 'none' }, logger });
    // The models of the repository have scopes; those of another service may have none.
    Object.defineProperty(service.database, 'mayHaveScopes', { value: false });
    expect(service.run(() => unscoped('sample data', acting))).toEqual([undefined, true]);
    expect(lines).toEqual([]);
  });

  it('refuses to lift the scope without a reason', () => {
    expect(() => unscoped(' ', acting)).toThrow('Expected the reason');
  });
});
