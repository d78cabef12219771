import ts from 'typescript';

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
/** Names whose content is assigned to, or changed by a call. */
export function writtenNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) note(names, node.left);
    if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) note(names, node.operand);
    if (ts.isDeleteExpression(node)) note(names, node.expression);
    if (ts.isCallExpression(node)) noteCall(names, node);
    // Also one that is not called here, as in `known.set.bind(known)`.
    if (ts.isPropertyAccessExpression(node) && changing.has(node.name.text)) names.add(rootOf(node).getText());
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
}

/** Of `a.b.c = 1` and `a['b'] = 1` the name is a. */
function note(names: Set<string>, target: ts.Expression): void {
  const owner = rootOf(target);
  if (owner !== target) names.add(owner.getText());
}

function rootOf(target: ts.Expression): ts.Expression {
  let owner = unwrapped(target);
  while (ts.isPropertyAccessExpression(owner) || ts.isElementAccessExpression(owner))
    owner = unwrapped(owner.expression);
  return owner;
}

/** The value itself, of `value as T`, `value satisfies T`, `value!`, `(value)` and `await value`. */
export function unwrapped(value: ts.Expression): ts.Expression {
  let inner = value;
  while (
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner) ||
    ts.isNonNullExpression(inner) ||
    ts.isParenthesizedExpression(inner) ||
    ts.isAwaitExpression(inner)
  )
    inner = inner.expression;
  return inner;
}
