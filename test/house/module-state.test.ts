import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { mutableState } from './mutable-state.ts';
import { parse, repositoryFiles } from './repository.ts';

/** What may live as long as the process does, each with the reason; everything else belongs to a service. */
const allowed: Record<string, string> = {
  'chassis/context/current-service.ts: open': 'the ambient pointer: which services the process has',
  'chassis/context/request-context.ts: scopes': 'the ambient pointer: which of them the caller belongs to',
  'chassis/context/request-context.ts: clientKeys': 'a pure cache of what an address is counted under',
  'chassis/context/request-context.ts: waiting': 'says of the caller, not of a service, that it must not be stopped',
  'chassis/database/client/current-work.ts: borrowers':
    'says of the caller, not of a service, for which transaction it takes a connection',
  'chassis/database/client/current-work.ts: surrounding':
    'says of the caller, not of a service, in which transaction it runs',
  'chassis/database/client/current-work.ts: units':
    'says of the caller, not of a service, in which unit of work it runs',
  'chassis/database/scope/checked-write.ts: checking':
    'says of the caller, not of a service, that the rows of its write are being checked',
  'chassis/database/work/expected-version.ts: expected':
    'says of the caller, not of a service, which version of a record it has seen',
  'chassis/config/private-memory.ts: collect': 'the collector of garbage belongs to the process',
  'chassis/config/private-memory.ts: line': 'what was told last of the memory of the process',
  'chassis/config/private-memory.ts: sockets': 'where the memory of the sockets of the process is told',
  'chassis/config/private-memory.ts: told': 'where the memory of the process is told',
  'chassis/lifecycle/process-guards.ts: ending': 'the end of the process belongs to the process',
  'chassis/telemetry/log-output.ts: output': 'standard output belongs to the process; its services share one buffer',
  'chassis/telemetry/metrics/process-metrics.ts: registry': 'metrics of the process, the same whoever asks',
  'chassis/telemetry/redact.ts: commonMasks': 'what is masked for everybody; nothing is ever added',
  'chassis/telemetry/tracing/trace-context.ts: bytes': 'random bytes, fetched for many ids at once',
  'chassis/telemetry/tracing/trace-context.ts: used': 'how many of them are used',
  'chassis/database/migrations/schema-engine.ts: loading': 'a pure cache: the engine is loaded once',
  'chassis/database/sqlite/sqlite-like.ts: remembered': 'a pure cache of what a statement says',
  'chassis/http/streams/loop-share.ts: loopShare': 'the event loop belongs to the process, whose services share it',
  'chassis/uploads/files/paced-reads.ts: turns': 'the event loop belongs to the process, whose services share it',
  'chassis/uploads/upload-storage.ts: inMemory': 'bounds the memory of the process, whose services share it',
  'chassis/http/answers/answer-headers.ts: noAnswerHeaders':
    'the headers of an app without settings; nothing changes it',
  'chassis/http/pipeline/middleware.ts: publicAccess': 'the handler that lets everybody in; nothing changes it',
};

/** Threads of their own, whose modules no service shares. */
const workers = /sqlite-worker\.ts$/;

/** Programs that end with what they were called for, and the tests of one process. */
const tools = /^src\/chassis\/(cli|testing)\//;

const files = repositoryFiles(/^src\/(chassis|modules)\/.*\.ts$/).filter(
  (file) => !workers.test(file) && !tools.test(file),
);
const found = files.flatMap((file) => mutableState(parse(file)).map((name) => `${file.replace('src/', '')}: ${name}`));

describe('state that lives as long as a module', () => {
  it('is nowhere but where this list says, with a reason', () => {
    expect(found.filter((name) => !(name in allowed))).toEqual([]);
  });

  it('is there where this list says', () => {
    expect(Object.keys(allowed).filter((name) => !found.includes(name))).toEqual([]);
  });

  it.each([
    ['let current: string | undefined;', ['current']],
    ['export let a = 1, b = 2;', ['a', 'b']],
    ['const known = new Map<string, number>(); export const f = () => known.set("a", 1);', ['known']],
    ['const list: string[] = []; export function f() { list.push("a"); }', ['list']],
    ['const state = { on: false }; export function f() { state.on = true; }', ['state']],
    ['const counts: Record<string, number> = {}; export const f = () => { counts["a"] += 1; };', ['counts']],
    ['const storage = new AsyncLocalStorage<number>();', ['storage']],
    ['const box = { value: 1 }; export const f = () => Object.assign(box, { value: 2 });', ['box']],
    ["import { Store } from './store.ts'; export const store = new Store();", ['store']],
    ['export class Counter { static count = 0; }', ['Counter.count']],
    ['class Known { static readonly #names = new Map(); }', ['Known.#names']],
    ['export class Limits { static readonly most = 10; static readonly form = /a/; }', []],
    ['const cache = createCache(); export const get = (n: string) => cache.get(n);', ['cache']],
    ['export const id = (() => { let last = 0; return () => (last += 1); })();', ['id']],
    ['const state = { known: new Map() }; export const f = () => state.known.set("a", 1);', ['state']],
    ['export const f = () => { globalThis.started = true; };', ['globalThis']],
    ['const key = Symbol("key"); const word = z.string(); const words = word.optional();', []],
    ['const names = new Set(["a"]); export const f = (n: string) => names.has(n);', []],
    ['const parts = new WeakMap<object, number>(); export const f = (o: object) => parts.set(o, 1);', []],
    ['const form = /a/; const times = { a: 1 } as const; export const f = () => times.a;', []],
    ['export function f() { let inside = 0; inside += 1; const m = new Map(); m.set(1, inside); }', []],
    ['const list = [] as string[]; export function f() { list.push("a"); }', ['list']],
    ['export const known = new Map<string, number>();', ['known']],
    ['export const known: Record<string, number> = {};', ['known']],
    ['export const known: ReadonlyMap<string, number> = new Map(); export const list: readonly string[] = ["a"];', []],
    ['export const times = { a: 1 }; export const list = ["a"] as const;', []],
    ['import { times } from "./times.ts"; export const f = () => { times.a = 2; };', ['times']],
    ['const list: string[] = []; const same = list; export const f = () => same.push("a");', ['list']],
    ['const box = { n: 0 }; export const f = () => { const b = box; b.n = 1; };', ['box']],
    ['const known = new Map(); export const put = known.set.bind(known);', ['known', 'put']],
    ['const list: string[] = []; export const f = () => add(list);', ['list']],
    ['const list: string[] = []; export const f = () => list;', ['list']],
    ['const list = ["a"]; export const f = (n: string) => [...list, list[0], list.includes(n)];', []],
    ['export function f() { f.count += 1; }', ['f']],
    ['export default new Foo();', ['default']],
    ['const loaded = await load();', ['loaded']],
    ['const box: { n?: number } = { n: 0 }; export const f = () => { delete (box as Box).n; };', ['box']],
    ['export const f = () => { process.env.A = "a"; };', ['process']],
    ['export namespace N { export let n = 1; }', ['n']],
    ['{ let n = 0; globals.next = () => (n += 1); }', ['n']],
  ])('would be found: %s', (source, names) => {
    expect(mutableState(ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true))).toEqual(names);
  });
});
