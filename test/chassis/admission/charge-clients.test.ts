import { expect, it } from 'vitest';
import { ClientShares } from '../../../src/chassis/admission/client-shares.ts';
import { openAdmission } from '../../../src/chassis/admission/open-admission.ts';
import type { RequestContext } from '../../../src/chassis/context/request-context.ts';
import { noAnswerHeaders } from '../../../src/chassis/http/answers/answer-headers.ts';

type Bill = (cost: number, context: RequestContext) => void;

/** A service whose requests cost their clients something, of which each waits for slow work for `waitMs`. */
function chargingService({ waitMs }: { waitMs: number }) {
  const shed: string[] = [];
  const admission = openAdmission(
    {
      ...{ NODE_ENV: 'test', HTTP_KEEP_ALIVE_TIMEOUT_MS: 1000, REQUEST_TIMEOUT_MS: 1000 },
      ...{ OVERLOAD_ENABLED: true, OVERLOAD_TARGET_MS: 500, OVERLOAD_MAX_CONCURRENCY: 10 },
    },
    {
      ...{ logger: { warn: () => undefined } as never, isTrusted: () => false, headers: noAnswerHeaders },
      ...{
        shares: new ClientShares(),
        bodies: { hold: () => undefined, release: () => undefined },
        hasTooMany: () => false,
      },
      database: {
        ...{ waiting: 0, served: 0, waitingQueries: 0, heldBackQueries: 0, ordinaryHeldBackQueries: 0 },
        ...{
          servedQueries: 0,
          heldBackMs: () => waitMs,
          clientMs: () => 0,
          ordinaryQueries: 0,
          places: 1,
          onUse: () => undefined,
        },
      },
      metrics: { watch: () => undefined, shed: (reason: string) => shed.push(reason) } as never,
    },
  );
  /** A request of a client, and what charges it. */
  function request(ipAddress: string) {
    const bills: Bill[] = [];
    const context = { ipAddress, onCharge: (bill: Bill) => bills.push(bill) } as never as RequestContext;
    admission?.observer.opened?.(context, undefined as never, undefined as never);
    const charge = (cost = 5) => {
      for (const bill of bills) bill(cost, context);
    };
    return { context, charge };
  }
  return { request, shed };
}

it('a stream under way is charged, and not refused as a request is whose caller has slow work under way', () => {
  const { request, shed } = chargingService({ waitMs: 60_000 });
  const { context, charge } = request('192.0.2.1');
  // There are many at overload, and to write a stack costs as much as a line of the log.
  const stack = expect.not.stringContaining('    at ');
  expect(charge).toThrow(expect.objectContaining({ name: 'ServiceUnavailableException', stack }));
  charge(-5);
  context.isStreaming = true;
  charge();
  expect(shed).toEqual(['costly']);
});

it.each([
  { waitMs: 501, refused: 'one that sends much' },
  { waitMs: 5000, refused: 'one that sends much' },
  { waitMs: 5001, refused: 'each' },
])(
  'a client that uses little beside others has its turn before them, so where $waitMs ms are to be waited $refused is refused',
  ({ waitMs, refused }) => {
    const { request } = chargingService({ waitMs });
    const much = () => request('192.0.2.1').charge(10_000);
    const little = () => request('192.0.2.2').charge(100);
    expect(much).toThrow('Requests that take long are under way');
    if (refused === 'each') expect(little).toThrow('Requests that take long are under way');
    else expect(little).not.toThrow();
  },
);
