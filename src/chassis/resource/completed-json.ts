import { jsonOf } from '../http/answers/responses.ts';
import { loopShare } from '../http/streams/loop-share.ts';
import { StoredJson, type StoredList } from '../query/paging/paging.ts';
import type { RecordCompletion } from '../query/query-types.ts';

const pause = () => loopShare.turn();

/**
 * The JSON of records with their computed fields. Everything is done some records at a time: a hundred orders with a hundred lines
 * each would keep the event loop for a tenth of a second.
 */
export async function completedJson(
  completion: RecordCompletion,
  found: StoredList<object> | readonly object[],
): Promise<StoredJson> {
  if (!(found instanceof StoredJson)) return jsonOf(await completion.of(found, pause), pause);
  await found.load(pause);
  return jsonOf(await completion.of(found.records, pause), pause);
}
