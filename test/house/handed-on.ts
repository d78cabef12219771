import ts from 'typescript';
import { unwrapped } from './written-names.ts';

/** Classes that copy what they are given. */
const copying = new Set(['Map', 'Set', 'Array', 'WeakMap', 'WeakSet']);

/** Calls that change none of their arguments. */
const onlyReads =
  /^(Object\.(keys|values|entries|fromEntries|freeze)|Array\.from|Math\.\w+|z\.\w+|.*\.(includes|concat|has))$/s;

function references(file: ts.SourceFile, name: string): { from: ts.Node; reference: ts.Node }[] {
  const all: { from: ts.Node; reference: ts.Node }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === name) {
      let reference: ts.Node = node;
      while (unwrapped(reference.parent as ts.Expression) !== reference.parent) reference = reference.parent;
      all.push({ from: reference.parent, reference });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return all;
}

/** Whether another name is given to it, by which it can be written to. */
export function isAliased(file: ts.SourceFile, name: string): boolean {
  return references(file, name).some(
    ({ from, reference }) =>
      (ts.isVariableDeclaration(from) &&
        from.initializer === reference &&
        ts.isIdentifier(from.name) &&
        !/^(Readonly|readonly )/.test(from.type?.getText() ?? '')) ||
      (ts.isBinaryExpression(from) &&
        from.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
        from.right === reference),
  );
}

/** Whether it is given to somebody else, who can write to it. */
export function isHandedOn(file: ts.SourceFile, name: string): boolean {
  const given = references(file, name).some(({ from, reference }) => {
    if (ts.isCallExpression(from)) return from.expression !== reference && !onlyReads.test(from.expression.getText());
    if (ts.isNewExpression(from)) return from.expression !== reference && !copying.has(from.expression.getText());
    if (ts.isPropertyAssignment(from)) return from.initializer === reference;
    if (ts.isArrowFunction(from)) return from.body === reference;
    return (
      ts.isReturnStatement(from) ||
      ts.isShorthandPropertyAssignment(from) ||
      ts.isArrayLiteralExpression(from) ||
      ts.isExportSpecifier(from)
    );
  });
  return given || isAliased(file, name);
}
