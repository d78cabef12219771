import type { Response } from 'express';
import { chargeRequest, getRequestContext } from '../context/request-context.ts';
import { currentRoom, ordinaryRecords } from '../http/answers/record-room.ts';
import { veryLongBodyOf } from '../http/answers/responses.ts';
import type { AnyListPolicy } from '../query/policy/list-policy.ts';
import type { FindQuery, SearchQuery } from '../query/query-types.ts';

/** An answer of so many records keeps the process busy for some ten milliseconds. */
const longAnswer = 500;

type Charged = Pick<FindQuery, 'cost' | 'records'> & Partial<Pick<SearchQuery, 'costOfCount'>>;

/**
 * Charges the client with what a list costs, or a record with related ones; one of many records, or of so many long ones as
 * answers to the list had lately, is answered once there is room for them.
 */
export async function charged(
  list: AnyListPolicy,
  { cost = 0, costOfCount = 0, records = 0 }: Charged,
  response: Response,
  answer: () => Promise<void>,
): Promise<void> {
  const context = getRequestContext();
  if (context && records >= longAnswer) context.isLong = true;
  chargeRequest(cost);
  if (context && costOfCount > 0) context.costOfCount = costOfCount;
  const room = currentRoom();
  const needed = room?.neededFor(list, records) ?? 0;
  await (room && needed > ordinaryRecords ? room.run(needed, answer) : answer());
  const bytes = veryLongBodyOf(response);
  if (bytes !== undefined) room?.noteLong(list, records, bytes, response);
}
