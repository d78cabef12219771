import { check } from 'k6';
import exec from 'k6/execution';
import { type Answer, type Asked, ask, bodyOf } from '../lib/client.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { tokenOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/**
 * Somebody drafts an order, changes it, places and pays for it, finds it in the list and in the export. Placing and paying
 * are each sent twice with one Idempotency-Key, as by a client that lost the answer: they have their effect once.
 */
export const options = optionsOf('place-order', {
  draft: [250, 500],
  change: [250, 500],
  place: [250, 500],
  pay: [500, 1_000],
  'list own': [150, 300],
  'export orders': [2_000, 4_000],
});
export const setup = setupOf('place-order');
export const handleSummary = reportOf('place-order');

interface Order {
  readonly id: string;
  readonly number: string;
  readonly status: string;
  readonly note: string | null;
  readonly totalCents: number;
}

interface Draft {
  readonly id: string;
  readonly version: string;
}

/** Asks for a path below that of the orders, as the user of the run. */
type Send = (name: string, path: string, asked?: Partial<Asked>) => Answer | undefined;

const run = Date.now().toString(36);
/** Each order takes so many; products that have fewer of them left than this many orders take are left alone. */
const quantity = 2;
const ordersInStock = 20;

export default function order({ resource, session }: World): void {
  const mark = `${run}${exec.vu.idInTest.toString(36)}x${exec.vu.iterationInScenario.toString(36)}`;
  const send: Send = (name, path, asked = {}) =>
    ask(`${resource.path}${path}`, { name, token: tokenOf(session), ...asked });
  const productId = productInStock(resource.path.replace(/orders$/, 'stock'), tokenOf(session));
  if (productId === undefined) return;
  const draft = begin(send, productId, mark);
  if (!draft || !change(send, draft, mark)) return;
  const placed = twice(send, 'place', draft, mark);
  if (!placed) return;
  check(placed, { 'an order that is placed says so': ({ status }) => status === 'placed' });
  const paid = twice(send, 'pay', draft, mark);
  if (!paid) return;
  check(paid, { 'an order that is paid says so': ({ status }) => status === 'paid' });
  find(send, paid);
}

function productInStock(path: string, token: string | undefined): string | undefined {
  const where = { available: { gte: quantity * ordersInStock } };
  const answer = ask(`${path}/paginated`, { name: 'stock', query: { where, pageSize: 50 }, token });
  if (!answer) return undefined;
  const { data } = bodyOf<{ data: { productId: string }[] }>(answer);
  check(data, { 'there is something to order': ({ length }) => length > 0 });
  return data[Math.floor(Math.random() * data.length)]?.productId;
}

/** A draft, and the version that its client has seen. */
function begin(send: Send, productId: string, mark: string): Draft | undefined {
  const body = { note: mark, lines: [{ productId, quantity }] };
  const headers = { 'Idempotency-Key': `draft-${mark}` };
  const answer = send('draft', '', { method: 'POST', body, headers, expected: [201] });
  if (!answer) return undefined;
  const { id, totalCents } = orderOf(answer);
  check(totalCents, { 'a draft has a price': (cents) => cents > 0 });
  return { id, version: tagOf(answer) };
}

/** Who has seen the present version changes it; who comes with an older one is refused. */
function change(send: Send, { id, version }: Draft, mark: string): boolean {
  const body = { note: `changed ${mark}` };
  const put = (expected: number) =>
    send('change', `/${id}`, { method: 'PUT', body, headers: { 'If-Match': version }, expected: [expected] });
  const answer = put(200);
  if (!answer) return false;
  check(orderOf(answer), { 'a change has what was sent': ({ note }) => note === body.note });
  return put(412) !== undefined;
}

/** Does something with an order, and sends it again as a client does that lost the answer. */
function twice(send: Send, what: 'place' | 'pay', { id }: Draft, mark: string): Order | undefined {
  const headers = { 'Idempotency-Key': `${what}-${mark}` };
  const once = () => send(what, `/${id}/${what}`, { method: 'POST', headers });
  const [first, second] = [once(), once()];
  if (!first || !second) return undefined;
  check(second.body, { 'what is sent again is answered as before': (body) => body === first.body });
  return orderOf(first);
}

/** Finds the order in the list, by cursor; every tenth time in the export as well, which is of all orders that there are by then. */
function find(send: Send, { id, number }: Order): void {
  const where = { status: 'paid', number };
  const first = send('list own', '/paginated', { query: { where, cursor: '', pageSize: 1 } });
  if (!first) return;
  const { data, nextCursor } = bodyOf<{ data: Order[]; nextCursor: string | null }>(first);
  check(data, { 'a paid order is in the list': ([own]) => own?.id === id && nextCursor === null });
  if (exec.scenario.iterationInTest % 10 !== 0) return;
  const all = send('export orders', '/export.csv');
  if (all) check(all.body, { 'a paid order is in the export': (text) => text.includes(`\n${number},paid,`) });
}

function orderOf(answer: Answer): Order {
  return bodyOf<{ data: Order }>(answer).data;
}

function tagOf({ headers }: Answer): string {
  return headers['Etag'] ?? headers['ETag'] ?? '';
}
