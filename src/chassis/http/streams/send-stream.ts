import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { currentService } from '../../context/current-service.ts';
import { chargeRequest, getRequestContext, recheckCaller } from '../../context/request-context.ts';
import { contentDisposition } from '../answers/content-disposition.ts';
import { dropBody } from '../bodies/kept-bodies.ts';
import { type Columns, CsvLines } from './csv-lines.ts';
import { loopShare } from './loop-share.ts';
import { ClientPace } from './stream-places.ts';
import { tooManyStreams } from './stream-shares.ts';

/** How rows are sent. */
export interface StreamOptions<Row> {
  /** CSV (RFC 4180), or a JSON object on each line. */
  format: 'csv' | 'ndjson';
  /** The columns of CSV: names of fields, or headings with functions of the row. Default: the fields of the first row. */
  columns?: Columns<Row>;
  /** Has a browser store the answer under this name; without it it is shown. */
  filename?: string;
  /** Streams that one caller may have under way at once; the next is a 429. Default 20. */
  perCaller?: number;
  /** How often the guards of the route are asked again, in milliseconds. Default 15,000. */
  recheckMs?: number;
}

/** How much text is handed to the connection at once, in characters. */
const pieceLength = 32_768;

/** What a row costs, in units of `chargeRequest`. At overload clients with long streams are then known to be heavy. */
const costOfRow = 1 / 20;
/** What a stream costs beside its rows, also one of a few rows or of none: it asks for its first rows as a page of a list does. */
const costOfBeginning = 60;

/** So many streams of one address, the latest included, may read many rows at once; what is read waits for the client. */
const fewStreams = 2;

const types = { csv: 'text/csv; charset=utf-8', ndjson: 'application/x-ndjson' } as const;

/**
 * Answers with rows as they come, however many there are: what is held of them is one piece of 32 KB and what the source
 * holds, because nothing is read that the client has not made room for. What the source raises before its first row is
 * answered like any failure; later it cuts the connection, so that no client takes a part for the whole. So is one cut whose
 * caller the guards of the route would not let in any more.
 *
 * The source ends (its `finally` runs) when the client goes away, and when a drain reaches its deadline. The client is charged
 * with 60 units, and with one for each 20 rows (see `chargeRequest`).
 *
 * @param rows such as `each()` of a repository, or a generator of one's own
 * @throws what `rows` raises; TooManyRequestsException for a caller with `perCaller` streams under way, or an address with a
 * quarter of all that the memory is enough for; ServiceUnavailableException where those are under way and none gives way, and
 * for one that has to give way itself
 */
export async function sendStream<Row extends object>(
  res: Response,
  rows: AsyncIterable<Row> | Iterable<Row>,
  { format, columns, filename, perCaller = 20, recheckMs = 15_000 }: StreamOptions<Row>,
): Promise<void> {
  const context = getRequestContext();
  const service = currentService();
  const displaced = new AbortController();
  const pace = new ClientPace();
  const cut = () => {
    // Before it has begun its answer is a 503.
    if (res.headersSent) service.cut(res.req.socket, 'displaced');
    displaced.abort(tooManyStreams());
  };
  const leave = service.streams.enterRows(context, perCaller, { cut, pace: () => pace.perSecond });
  if (context) {
    context.isStreaming = true;
    context.hasManyStreams = service.streams.rowsOf(context) > fewStreams;
  }
  dropBody(res.req);
  try {
    chargeRequest(costOfBeginning);
    await sendRows(res, rows, { format, columns, filename, recheckMs, pace, signal: displaced.signal });
  } catch (error) {
    throw displaced.signal.aborted ? displaced.signal.reason : error;
  } finally {
    leave();
  }
}

interface RowsOptions<Row> extends Pick<StreamOptions<Row>, 'format'> {
  columns: Columns<Row> | undefined;
  filename: string | undefined;
  recheckMs: number;
  pace: ClientPace;
  /** Aborted where the stream has to give way. */
  signal: AbortSignal;
}

async function sendRows<Row extends object>(
  res: Response,
  rows: AsyncIterable<Row> | Iterable<Row>,
  { format, columns, filename, recheckMs, pace, signal }: RowsOptions<Row>,
): Promise<void> {
  const pieces = piecesOf(linesOf(rows, format, columns), recheckMs);
  const first = await pieces.next();
  if (signal.aborted) await pieces.return();
  signal.throwIfAborted();
  res.setHeader('Content-Type', types[format]);
  if (filename !== undefined) res.setHeader('Content-Disposition', contentDisposition(filename));
  if (res.req.method === 'HEAD') {
    // Node would drop what is written, so all rows would be read for nothing.
    await pieces.return();
    res.end();
    return;
  }
  await pipeline(paced(afterFirst(first, pieces), pace), res, { signal });
}

async function* linesOf<Row extends object>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  format: 'csv' | 'ndjson',
  columns: Columns<Row> | undefined,
): AsyncGenerator<string, void, undefined> {
  let csv = columns && new CsvLines(columns);
  if (csv && format === 'csv') yield csv.heading;
  for await (const row of rows) {
    if (format === 'ndjson') {
      yield `${JSON.stringify(row, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}\n`;
      continue;
    }
    if (csv === undefined) {
      csv = new CsvLines<Row>(Object.keys(row) as (keyof Row & string)[]);
      yield csv.heading;
    }
    yield csv.line(row);
  }
}

async function* piecesOf(lines: AsyncIterable<string>, recheckMs: number): AsyncGenerator<string, void, undefined> {
  let piece = '';
  let rows = 0;
  let checkedAt = performance.now();
  await loopShare.turn();
  for await (const line of lines) {
    piece += line;
    rows += 1;
    if (piece.length < pieceLength) continue;
    chargeRequest(rows * costOfRow);
    yield piece;
    piece = '';
    rows = 0;
    await loopShare.turn();
    if (performance.now() - checkedAt < recheckMs) continue;
    await recheckCaller();
    checkedAt = performance.now();
  }
  chargeRequest(rows * costOfRow);
  if (piece !== '') yield piece;
}

/** The pieces, of which it is known how fast the client takes them. */
async function* paced(
  pieces: AsyncGenerator<string, void, undefined>,
  pace: ClientPace,
): AsyncGenerator<string, void, undefined> {
  for await (const piece of pieces) {
    pace.handed();
    yield piece;
    pace.took(piece);
  }
}

/** The pieces, of which the first has been asked for already. */
async function* afterFirst(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<string, void, undefined> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
