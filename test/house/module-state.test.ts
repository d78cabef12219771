import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse, repositoryFiles } from './repository.ts';

/** What may live as long as the process does, each with the reason; everything else belongs to a service. */
const allowed: Record<string, string> = {
  'chassis/context/current-service.ts: open': 'the ambient pointer: which services the process has',
  'chassis/context/request-context.ts: scopes': 'the ambient pointer: which of them the caller belongs to',
  'chassis/context/uninterrupted.ts: storage': 'says of the caller, not of a service, that it must not be stopped',
  'chassis/database/client/borrower.ts: borrowers':
    'says of the caller, not of a service, for which transaction it takes a connection',
  'chassis/database/client/convert-orm-errors.ts: surrounding':
    'says of the caller, not of a service, in which transaction it runs',
  'chassis/database/work/unit.ts: storage': 'says of the caller, not of a service, in which unit of work it runs',
  'chassis/lifecycle/process-guards.ts: ending': 'the end of the process belongs to the process',
  'chassis/telemetry/log-output.ts: output': 'standard output belongs to the process; its services share one buffer',
  'chassis/telemetry/metrics/process-metrics.ts: registry': 'metrics of the process, the same whoever asks',
  'chassis/telemetry/redact.ts: commonMasks': 'what is masked for everybody; nothing is ever added',
  'chassis/telemetry/tracing/trace-context.ts: bytes': 'random bytes, fetched for many ids at once',
  'chassis/telemetry/tracing/trace-context.ts: used': 'how many of them are used',
  'chassis/database/migrations/schema-engine.ts: loading': 'a pure cache: the engine is loaded once',
  'chassis/database/sqlite/sqlite-like.ts: remembered': 'a pure cache of what a statement says',
  'chassis/http/answers/answer-headers.ts: noAnswerHeaders':
    'the headers of an app without settings; nothing changes it',
  'chassis/query/policy/policy-rules.ts: made': 'numbers policies, which are declared where modules are imported',
};

/** Threads of their own, whose modules no service shares. */
const workers = /sqlite-worker\.ts$/;

const changing = new Set([
  'set',
  'add',
  'delete',
  'clear',
  'push',
  'pop',
  'shift',
  'unshift',
  'splice',
  'fill',
  'sort',
]);
const containers = new Set(['Map', 'Set', 'Array']);
/** Classes whose values change by calls that are seen here, or not at all, or with the objects that they belong to. */
const seenThrough = new Set([...containers, 'WeakMap', 'WeakSet', 'RegExp', 'URL', 'Date']);

/** Calls whose result nobody changes: symbols, schemas, paths, frozen values, declarations of a module. */
const makesConstants =
  /^(Symbol|z|join|promisify|provide|listPolicy|paginationSchemaFor|moment|Object\.freeze|Buffer\.from|\[.*\]\.map)$/s;

const files = repositoryFiles(/^src\/(chassis|modules)\/.*\.ts$/).filter((file) => !workers.test(file));
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
  ])('would be found: %s', (source, names) => {
    expect(mutableState(ts.createSourceFile('a.ts', source, ts.ScriptTarget.Latest, true))).toEqual(names);
  });
});

interface Declared {
  name: string;
  isLet: boolean;
  value: ts.Expression | undefined;
}

/**
 * Names of top-level `let` and static fields that may change, of values of classes and factories, of containers and
 * objects that the file itself writes to, and of the global object where it is written to. An association of objects in
 * a WeakMap or WeakSet lives as long as the objects do, which are a service's.
 */
function mutableState(file: ts.SourceFile): string[] {
  const declared = file.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) =>
    declarationList.declarations.map((declaration) => ({
      name: declaration.name.getText(),
      isLet: (declarationList.flags & ts.NodeFlags.Const) === 0,
      value: declaration.initializer,
    })),
  );
  const written = writtenNames(file);
  const constants = new Set<string>();
  const found = declared.filter(({ name, isLet, value }) => {
    const isState = isLet || isInstance(value) || isMade(value, constants) || (isWritable(value) && written.has(name));
    if (!isState) constants.add(name);
    return isState;
  });
  const ofClasses = file.statements.filter(ts.isClassDeclaration).flatMap(staticFields);
  const changing = ofClasses.filter(({ isLet, value }) => isLet || isInstance(value) || isWritable(value));
  return [...[...found, ...changing].map(({ name }) => name), ...(written.has('globalThis') ? ['globalThis'] : [])];
}

/** The static fields of a class; one that is not `readonly` may change like a `let`. */
function staticFields({ name, members }: ts.ClassDeclaration): Declared[] {
  const has = (member: ts.PropertyDeclaration, kind: ts.SyntaxKind) =>
    member.modifiers?.some((modifier) => modifier.kind === kind) === true;
  return members
    .filter(ts.isPropertyDeclaration)
    .filter((member) => has(member, ts.SyntaxKind.StaticKeyword))
    .map((member) => ({
      name: `${name?.text}.${member.name.getText()}`,
      isLet: !has(member, ts.SyntaxKind.ReadonlyKeyword),
      value: member.initializer,
    }));
}

/** What a function gave may hold anything, except where it is known to make constants, or makes one of a constant. */
function isMade(value: ts.Expression | undefined, constants: ReadonlySet<string>): boolean {
  if (value === undefined || !ts.isCallExpression(value) || isWritable(value)) return false;
  let owner: ts.Expression = value.expression;
  while (!makesConstants.test(owner.getText())) {
    if (ts.isIdentifier(owner)) return !constants.has(owner.text);
    if (!ts.isPropertyAccessExpression(owner) && !ts.isCallExpression(owner)) return true;
    owner = owner.expression;
  }
  return false;
}

/** A value that its own methods may change without this file's seeing it. */
function isInstance(value: ts.Expression | undefined): boolean {
  return value !== undefined && ts.isNewExpression(value) && !seenThrough.has(value.expression.getText());
}

function isWritable(value: ts.Expression | undefined): boolean {
  if (!value) return false;
  if (ts.isArrayLiteralExpression(value) || ts.isObjectLiteralExpression(value)) return true;
  if (ts.isCallExpression(value)) return value.getText().startsWith('Buffer.alloc');
  return ts.isNewExpression(value) && containers.has(value.expression.getText());
}

/** Names whose content is assigned to, or changed by a call. */
function writtenNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) note(names, node.left);
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) note(names, node.operand);
    if (ts.isDeleteExpression(node)) note(names, node.expression);
    if (ts.isCallExpression(node)) noteCall(names, node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function noteCall(names: Set<string>, { expression, arguments: values }: ts.CallExpression): void {
  if (/^(Object\.assign|Reflect\.set|randomFillSync)$/.test(expression.getText()))
    names.add(values[0]?.getText() ?? '');
  if (!ts.isPropertyAccessExpression(expression)) return;
  if (changing.has(expression.name.text)) names.add(rootOf(expression).getText());
}

/** Of `a.b.c = 1` and `a['b'] = 1` the name is a. */
function note(names: Set<string>, target: ts.Expression): void {
  const owner = rootOf(target);
  if (owner !== target) names.add(owner.getText());
}

function rootOf(target: ts.Expression): ts.Expression {
  let owner = target;
  while (ts.isPropertyAccessExpression(owner) || ts.isElementAccessExpression(owner)) owner = owner.expression;
  return owner;
}
