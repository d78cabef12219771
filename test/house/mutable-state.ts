import ts from 'typescript';
import { isAliased, isHandedOn } from './handed-on.ts';
import { unwrapped, writtenNames } from './written-names.ts';

const containers = new Set(['Map', 'Set', 'Array']);
/** Classes whose values change by calls that are seen here, or not at all, or with the objects that they belong to. */
const seenThrough = new Set([...containers, 'WeakMap', 'WeakSet', 'RegExp', 'URL', 'Date']);

/** Calls whose result nobody changes: symbols, schemas, paths, frozen values, declarations of a module. */
const makesConstants =
  /^(Symbol|z|join|promisify|provide|resource|defineRoutes|defineEvents|defineJobs|httpClient|listPolicy|paginationSchemaFor|moment|chassisFile|Object\.freeze|Buffer\.from|\[.*\]\.map)$/s;

interface Declared {
  name: string;
  isLet: boolean;
  value: ts.Expression | undefined;
  isExported?: boolean;
  type?: string | undefined;
}

/**
 * Names of `let` outside of functions and static fields that may change, of values of classes and factories, of
 * containers and objects that the file itself writes to or hands on as something to write to, and of what it does not
 * declare but writes to: globals, imports, functions. An association of objects in a WeakMap or WeakSet lives as long as
 * the objects do, which are a service's.
 */
export function mutableState(file: ts.SourceFile): string[] {
  const declared = declaredOutside(file);
  const written = writtenNames(file);
  const constants = new Set<string>();
  const found = declared.filter((declaration) => {
    const { name, isLet, value } = declaration;
    const isState = isLet || isInstance(value) || isMade(value, constants) || isChanged(declaration, written, file);
    if (!isState) constants.add(name);
    return isState;
  });
  const ofClasses = file.statements.filter(ts.isClassDeclaration).flatMap(staticFields);
  const changing = ofClasses.filter(({ isLet, value }) => isLet || isInstance(value) || isWritable(value));
  const shared = ['globalThis', 'process', ...sharedNames(file)].filter((name) => written.has(name));
  return [...new Set([...[...found, ...changing].map(({ name }) => name), ...shared])];
}

/** What is declared outside of functions and classes, also in blocks and namespaces, and the default export. */
function declaredOutside(file: ts.SourceFile): Declared[] {
  const all: Declared[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) || ts.isClassLike(node)) return;
    if (ts.isVariableDeclaration(node) && ts.isVariableDeclarationList(node.parent)) all.push(declaredBy(node));
    if (ts.isExportAssignment(node)) all.push({ name: 'default', isLet: false, value: node.expression });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return all;
}

function declaredBy({ name, parent, initializer, type }: ts.VariableDeclaration): Declared {
  const isExported =
    ts.isVariableStatement(parent.parent) &&
    parent.parent.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
  const isLet = (parent.flags & ts.NodeFlags.Const) === 0;
  return { name: name.getText(), isLet, value: initializer, isExported, type: type?.getText() };
}

/** Whether a container is written to, or may be where it is handed on: the compiler refuses that of a read-only type. */
function isChanged({ name, value, isExported, type }: Declared, written: Set<string>, file: ts.SourceFile): boolean {
  if (!isWritable(value)) return false;
  if (written.has(name)) return true;
  const isObject = ts.isObjectLiteralExpression(unwrapped(value as ts.Expression));
  // A list's type of an own name says itself whether it is read-only.
  if (!isObject && /^[A-Z]\w*$/.test(type ?? '')) return false;
  if (/^(Readonly|readonly )/.test(type ?? '') || / as const$|satisfies [Rr]eadonly/.test(value?.getText() ?? ''))
    return false;
  // The names of an object literal are fixed, and who imports it and writes to them is found there.
  if (isExported && (!isObject || /^Record\b/.test(type ?? ''))) return true;
  return isObject ? isAliased(file, name) : isHandedOn(file, name);
}

/** Names that the file shares with others or with all calls of a function: of imports, functions and classes. */
function sharedNames(file: ts.SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) return statement.name?.text ?? [];
    if (!ts.isImportDeclaration(statement)) return [];
    const { name, namedBindings } = statement.importClause ?? {};
    const named = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : [];
    return [...(name ? [name.text] : []), ...named.map((element) => element.name.text)];
  });
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
function isMade(given: ts.Expression | undefined, constants: ReadonlySet<string>): boolean {
  const value = given && unwrapped(given);
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
function isInstance(given: ts.Expression | undefined): boolean {
  const value = given && unwrapped(given);
  return value !== undefined && ts.isNewExpression(value) && !seenThrough.has(value.expression.getText());
}

function isWritable(given: ts.Expression | undefined): boolean {
  const value = given && unwrapped(given);
  if (!value) return false;
  if (ts.isArrayLiteralExpression(value) || ts.isObjectLiteralExpression(value)) return true;
  if (ts.isCallExpression(value)) return /^(Buffer\.alloc|Object\.(keys|values|entries)\()/.test(value.getText());
  return ts.isNewExpression(value) && containers.has(value.expression.getText());
}
