import type { Response } from 'express';
import { expect, it } from 'vitest';
import { type RequestContext, runWithRequestContext } from '../../../../src/chassis/context/request-context.ts';
import { charged } from '../../../../src/chassis/http/answers/record-room.ts';

it.each([
  [500, true],
  [499, undefined],
])('an answer that may have %d records is long before anything is charged: %s', async (records, isLong) => {
  const seen: (boolean | undefined)[] = [];
  const context: RequestContext = { requestId: 'r', method: 'GET', url: '/', startTime: new Date() };
  context.charge = () => void seen.push(context.isLong);
  await runWithRequestContext(context, () =>
    charged({} as never, { cost: 5, records }, {} as Response, async () => void seen.push(context.isLong)),
  );
  expect(seen).toEqual([isLong, isLong]);
});
