import type { Response } from 'express';
import { type StreamOptions, sendStream } from '../http/streams/send-stream.ts';
import type { Selection } from '../query/query-types.ts';
import type { ResourceService } from './resource-service.ts';

/** How all records are sent, and which of their fields. */
export type AllRecordsOptions<Column extends string> = Omit<StreamOptions<object>, 'columns'> & {
  /** In their order; one that the list policy keeps from the caller is left out. */
  columns: readonly Column[];
};

/** Sends all records of a service that the caller may see, of their columns those that `select` has. */
export function sendAll(
  response: Response,
  service: ResourceService,
  select: Selection,
  { columns, ...options }: AllRecordsOptions<string>,
): Promise<void> {
  const shown = columns.filter((name) => select[name] === true);
  const records = service.each({ select: Object.fromEntries(shown.map((name) => [name, true])) });
  return sendStream<Record<string, unknown>>(response, rowsOf(records, shown), { ...options, columns: shown });
}

/** The fields of records that were asked for, and no other that was read with them. */
async function* rowsOf(records: AsyncIterable<object>, fields: readonly string[]) {
  for await (const record of records) {
    yield Object.fromEntries(fields.map((name) => [name, (record as Record<string, unknown>)[name]]));
  }
}
