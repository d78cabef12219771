import ts from 'typescript';

/** The names that a file exports, `default` among them. */
export function exportedNames(file: ts.SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    if (ts.isExportAssignment(statement)) return ['default'];
    if (ts.isExportDeclaration(statement)) return reExportedNames(statement);
    if (!ts.canHaveModifiers(statement)) return [];
    const modifiers = ts.getModifiers(statement)?.map((modifier) => modifier.kind) ?? [];
    if (!modifiers.includes(ts.SyntaxKind.ExportKeyword)) return [];
    if (modifiers.includes(ts.SyntaxKind.DefaultKeyword)) return ['default'];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText());
    return [(statement as ts.DeclarationStatement).name?.getText() ?? ''];
  });
}

function reExportedNames({ exportClause }: ts.ExportDeclaration): string[] {
  if (!exportClause || !ts.isNamedExports(exportClause)) return [];
  return exportClause.elements.map(({ name }) => name.text);
}
