import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const SRC = join(__dirname, '..', '..', 'src');
/** The name of the table of codes in validation.ts. */
const TABLE = 'CODES';
const FROM_TABLE = /\bCODES\[/;

/** Every validation error code in the sources: of each object with a code and a detail, and of the table of JSON Schema keywords. */
export function faultCodesInSources(): Set<string> {
  const codes = new Set<string>();
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const source = ts.createSourceFile(file, readFileSync(join(SRC, file), 'utf8'), ts.ScriptTarget.Latest, true);
    collect(source, (text) => codes.add(text));
  }
  return codes;
}

function collect(node: ts.Node, add: (code: string) => void): void {
  if (ts.isObjectLiteralExpression(node)) {
    const code = initializerOf(node, 'code');
    // with a status it is a problem
    if (code && !ts.isObjectLiteralExpression(code) && memberOf(node, 'detail') && !memberOf(node, 'status'))
      textsOf(code, add);
  }
  if (ts.isVariableDeclaration(node) && node.initializer && isCodes(node)) textsOf(node.initializer, add);
  if (ts.isReturnStatement(node) && FROM_TABLE.test(node.expression?.getText() ?? '')) textsOf(node.expression!, add);
  ts.forEachChild(node, (child) => {
    collect(child, add);
  });
}

/** Whether it is the table itself. */
function isCodes({ name }: ts.VariableDeclaration): boolean {
  return name.getText() === TABLE;
}

function memberOf(node: ts.ObjectLiteralExpression, name: string): ts.ObjectLiteralElementLike | undefined {
  return node.properties.find((property) => property.name?.getText() === name);
}

function initializerOf(node: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  const member = memberOf(node, name);
  return member && ts.isPropertyAssignment(member) ? member.initializer : undefined;
}

/** The string values of an expression; of a conditional only its branches. */
function textsOf(node: ts.Node, add: (text: string) => void): void {
  if (ts.isStringLiteral(node)) add(node.text);
  else if (ts.isConditionalExpression(node))
    [node.whenTrue, node.whenFalse].forEach((one) => {
      textsOf(one, add);
    });
  else if (ts.isBinaryExpression(node))
    [node.left, node.right].forEach((one) => {
      textsOf(one, add);
    });
  else if (ts.isParenthesizedExpression(node)) textsOf(node.expression, add);
  else if (ts.isObjectLiteralExpression(node))
    node.properties.forEach((one) => {
      if (ts.isPropertyAssignment(one)) textsOf(one.initializer, add);
    });
}
