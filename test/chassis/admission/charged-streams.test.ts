import { expect, it } from 'vitest';
import { openAdmission } from '../../../src/chassis/admission/open-admission.ts';
import type { RequestContext } from '../../../src/chassis/context/request-context.ts';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';

type Bill = (cost: number, context: RequestContext) => void;

/** A database of which each caller has waited for slow work of its own for a minute. */
const database = {
  ...{ waiting: 0, served: 0, waitingQueries: 0, heldBackQueries: 0, ordinaryHeldBackQueries: 0, servedQueries: 0 },
  ...{ heldBackMs: () => 60_000, clientMs: () => 0, ordinaryQueries: 0, places: 1 },
};

it('a stream under way is charged, and not refused as a request is whose caller has slow work under way', () => {
  const shed: string[] = [];
  const admission = openAdmission(
    {
      ...{ NODE_ENV: 'test', HTTP_KEEP_ALIVE_TIMEOUT_MS: 1000, REQUEST_TIMEOUT_MS: 1000 },
      ...{ OVERLOAD_ENABLED: true, OVERLOAD_TARGET_MS: 500, OVERLOAD_MAX_CONCURRENCY: 10 },
    },
    {
      ...{ logger: { warn: () => undefined } as never, database, isTrusted: () => false, headers: noAnswerHeaders },
      ...{ bodies: { hold: () => undefined, release: () => undefined }, hasTooMany: () => false },
      metrics: { watch: () => undefined, shed: (reason: string) => shed.push(reason) } as never,
    },
  );
  const bills: Bill[] = [];
  const context = { ipAddress: '192.0.2.1', onCharge: (bill: Bill) => bills.push(bill) } as never as RequestContext;
  admission?.observer.opened?.(context, undefined as never, undefined as never);
  const charge = (cost = 5) => bills.map((bill) => bill(cost, context));
  // There are many at overload, and to write a stack costs as much as a line of the log.
  const stack = expect.not.stringContaining('    at ');
  expect(charge).toThrow(expect.objectContaining({ name: 'ServiceUnavailableException', stack }));
  charge(-5);
  context.isStreaming = true;
  charge();
  expect(shed).toEqual(['costly']);
});
