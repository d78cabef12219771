import { check } from 'k6';
import exec from 'k6/execution';
import { whereOf } from '../contract/conditions.ts';
import type { Row } from '../contract/fields.ts';
import { holds, idOf } from '../contract/invariants.ts';
import { changeableText, madeBody, newText } from '../contract/made-body.ts';
import { type Answer, ask, bodyOf } from '../lib/client.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { logIn, tokenOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/**
 * Somebody logs in, creates a record, reads it, changes it, finds it in the list and deletes it: at each step a client
 * reads its own writes. Each user logs in for every tenth record, because a password costs the service far more; not all
 * of them at once, because a service lets few passwords wait.
 */
export const options = optionsOf('write-mix', {
  create: [250, 500],
  'read own': [100, 250],
  'find own': [100, 250],
  update: [250, 500],
  login: [1_000, 2_000],
});
export const setup = setupOf('write-mix');
export const handleSummary = reportOf('write-mix');

const run = Date.now().toString(36);

export default function write(world: World): void {
  const { session } = world;
  const isLogin = (exec.vu.idInTest + exec.vu.iterationInScenario) % 10 === 0;
  if (session?.path && session.account && isLogin) logIn(session.path, session.account);
  const token = tokenOf(session);
  const mark = `${run}${exec.vu.idInTest.toString(36)}x${exec.vu.iterationInScenario.toString(36)}`;
  const created = create(world, mark, token);
  if (!created) return;
  readOwn(world, created.row, token);
  const changed = update(world, created, mark, token);
  if (changed) {
    readOwn(world, changed.row, token);
    findOwn(world, changed.row, token);
  }
  remove(world, changed ?? created, token);
}

/** What was written last, and its version where the service counts them. */
interface Written {
  readonly row: Row;
  readonly version: Record<string, string>;
}

function written(answer: Answer): Written {
  const tag = answer.headers['Etag'] ?? answer.headers['ETag'];
  return { row: bodyOf<{ data: Row }>(answer).data, version: tag ? { 'If-Match': tag } : {} };
}

function create({ resource, example }: World, mark: string, token: string | undefined): Written | undefined {
  const body = madeBody(resource.create ?? {}, example, mark);
  const path = resource.routes.create?.path ?? '';
  // One that is sent again, because the service was busy, has its effect once.
  const headers = { 'Idempotency-Key': mark };
  const answer = ask(path, { name: 'create', method: 'POST', body, token, headers, expected: [201] });
  if (!answer) return undefined;
  const created = written(answer);
  const sent = Object.fromEntries(Object.entries(body).filter(([name]) => name in created.row));
  check(created, { 'the answer to a create has what was sent': ({ row }) => holds(row, sent) });
  return created;
}

function update(
  { resource }: World,
  { row, version: headers }: Written,
  mark: string,
  token: string | undefined,
): Written | undefined {
  const name = changeableText(resource.update ?? {}, row);
  if (name === undefined) return undefined;
  const body = { [name]: newText(resource.update?.properties?.[name] ?? {}, `changed ${mark}`) };
  const path = itemPath(resource.routes.update?.path, row);
  const answer = ask(path, { name: 'update', method: 'PUT', body, token, headers });
  if (!answer) return undefined;
  const changed = written(answer);
  check(changed, { 'the answer to an update has what was sent': (now) => holds(now.row, body) });
  return changed;
}

function readOwn({ resource }: World, written: Row, token: string | undefined): void {
  const answer = ask(itemPath(resource.routes.get?.path, written), { name: 'read own', token });
  if (!answer) return;
  const { data } = bodyOf<{ data: Row }>(answer);
  check(data, { 'a client reads its own writes': (row) => holds(row, written) });
}

/** The list has what was written, whichever replica or cache answers. */
function findOwn({ resource }: World, written: Row, token: string | undefined): void {
  if (!resource.filters['id']) return;
  const kind = resource.fields['id'] ?? 'other';
  const where = whereOf([{ path: 'id', kind, operator: 'equals', values: [written['id']] }]);
  const answer = ask(resource.routes.search?.path ?? '', { name: 'find own', query: { where }, token });
  if (!answer) return;
  const { data, total } = bodyOf<{ data: Row[]; total: number }>(answer);
  check(data, { 'a list has what its client wrote': ([row]) => total === 1 && holds(row, written) });
}

function remove({ resource }: World, { row, version: headers }: Written, token: string | undefined): void {
  const path = itemPath(resource.routes.delete?.path, row);
  if (!ask(path, { name: 'delete', method: 'DELETE', token, headers, expected: [204] })) return;
  const answer = ask(itemPath(resource.routes.get?.path, row), { name: 'read deleted', token, expected: [200, 404] });
  if (answer) check(answer, { 'a client misses what it deleted': ({ status }) => status === 404 });
}

function itemPath(path = '', row: Row): string {
  return path.replace(/\{\w+\}$/, encodeURIComponent(idOf(row)));
}
