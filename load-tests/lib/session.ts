import encoding from 'k6/encoding';
import { type ApiDocument, bodySchema } from '../contract/openapi.ts';
import { ask, bodyOf } from './client.ts';
import { refuse, target } from './target.ts';

/** Credentials of this run: TOKEN as it is, or LOAD_EMAIL and LOAD_PASSWORD for a login. */
const { TOKEN: givenToken, LOAD_EMAIL: email, LOAD_PASSWORD: password } = __ENV;

/** A login: where it is made and how long its token lasts. JSON, so that k6 can hand it to its users. */
export interface Session {
  readonly token: string;
  /** Where to log in again; undefined for a given token. */
  readonly path?: string;
  /** Name of the field beside `password`. */
  readonly account?: string;
  /** When the token ends, in milliseconds since 1970. */
  readonly endsAt: number;
}

/** A user of k6 logs in again when the token is about to end. */
let own: Session | undefined;

/** Makes the session of a run with the credentials that were given; undefined without credentials. */
export function openSession(document: ApiDocument): Session | undefined {
  if (givenToken) return { token: givenToken, endsAt: 0 };
  if (!email || !password) return undefined;
  const found = Object.keys(document.paths).flatMap((path) => {
    const { properties = {} } = bodySchema(document, document.paths[path]?.['post']) ?? {};
    const account = ['email', 'username'].find((name) => name in properties);
    return path.endsWith('/login') && account && 'password' in properties ? [{ path, account }] : [];
  })[0];
  if (!found)
    return refuse('the document has no POST …/login that takes a password; give TOKEN instead of LOAD_EMAIL.');
  const session = logIn(found.path, found.account);
  return (
    session ??
    refuse(
      `${target}${found.path} did not take LOAD_EMAIL and LOAD_PASSWORD. Correct them; where it answered 429, set RATE_LIMIT_ENABLED=false there or give TOKEN.`,
    )
  );
}

/** The token to send, renewed when it is about to end. */
export function tokenOf(session: Session | undefined): string | undefined {
  const current = own ?? session;
  if (!current?.path || !current.account || current.endsAt - Date.now() > 30_000) return current?.token;
  own = logIn(current.path, current.account);
  return own?.token;
}

/** Logs in, as a client does at the start of its day. */
export function logIn(path: string, account: string): Session | undefined {
  const answer = ask(path, { name: 'login', method: 'POST', body: { [account]: email, password } });
  if (!answer) return undefined;
  const { data } = bodyOf<{ data: { accessToken: string; expiresIn?: number } }>(answer);
  return { path, account, token: data.accessToken, endsAt: Date.now() + 1000 * (data.expiresIn ?? 300) };
}

/** What a token says of its user: the claim `sub` of a JWT; undefined of any other token. */
export function userOf(token: string): string | undefined {
  const [, claims, signature] = token.split('.');
  if (!claims || signature === undefined) return undefined;
  return (JSON.parse(encoding.b64decode(claims, 'rawurl', 's')) as { sub?: string }).sub;
}
