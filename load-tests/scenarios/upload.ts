import { check } from 'k6';
import encoding from 'k6/encoding';
import http from 'k6/http';
import { type Answer, ask, bodyOf } from '../lib/client.ts';
import { optionsOf } from '../lib/options.ts';
import { reportOf } from '../lib/report.ts';
import { tokenOf, userOf } from '../lib/session.ts';
import { setupOf, type World } from '../lib/world.ts';

/** Somebody uploads a picture and looks at it. */
export const options = optionsOf('upload', { upload: [250, 500], 'uploaded file': [50, 150] });
export const setup = setupOf('upload');
export const handleSummary = reportOf('upload');

const png = encoding.b64decode(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
);

export default function upload(world: World): void {
  const { upload: route, session } = world;
  if (!route) return;
  const token = tokenOf(session);
  const form = { [route.field]: http.file(png, 'picture.png', 'image/png') };
  const answer = ask(pathOf(world, token), { name: 'upload', method: 'POST', form, token, expected: [200, 201] });
  if (!answer) return;
  const address = pictureOf(answer);
  if (!check(address, { 'the answer names the file': (found) => found !== undefined })) return;
  const file = ask(String(address), { name: 'uploaded file', token, expected: [200, 404] });
  if (file?.status === 200) check(file, { 'the file is a picture': isPicture });
  else if (file) checkReplaced(world, String(address), token);
}

function isPicture({ headers }: Answer): boolean {
  return headers['Content-Type'] === 'image/png';
}

/** All users of k6 may be one account, whose picture each of them replaces. */
function checkReplaced(world: World, address: string, token: string | undefined): void {
  const owner = ask(pathOf(world, token).replace(/\/[^/]+$/, ''), { name: 'owner of the file', token });
  if (owner) check(owner, { 'a file is there until another replaces it': (answer) => pictureOf(answer) !== address });
}

function pictureOf(answer: Answer): string | undefined {
  const { data } = bodyOf<{ data: Record<string, unknown> }>(answer);
  const found = Object.values(data).find((value) => typeof value === 'string' && /^\/.+\.png$/.test(value));
  return found as string | undefined;
}

/** Of a user, the one who is logged in; else a record of the list. */
function pathOf({ upload: route, ids }: World, token: string | undefined): string {
  const path = route?.path ?? '';
  const own = path.includes('/users/') && token ? userOf(token) : undefined;
  return path.replace(/\{\w+\}/, own ?? ids[0] ?? '');
}
