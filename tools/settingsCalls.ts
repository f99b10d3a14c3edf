import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  specifiedRules,
  type TypeNode,
  validate,
} from 'graphql';
import { format, resolveConfig } from 'prettier';
import { publishedSchemas } from '../src/gateway/schemas';
import { DOCUMENTS } from '../src/settings/documents';
import { ROOT } from './facts';

/* npm run openapi: writes the types of the calls that the settings make, so that they cannot differ from the SDL; `--check` fails if they do. */

const FILE = join(ROOT, 'web', 'settings', 'calls.ts');
const { graphql: schema } = publishedSchemas();
const SCALARS: Readonly<Record<string, string>> = {
  Int: 'number',
  Float: 'number',
  Minor: 'number',
  Boolean: 'boolean',
};

function leaf(name: string): string {
  const type = schema.getType(name);
  const values = isEnumType(type) ? type.getValues().map((value) => `'${value.name}'`) : [];
  return values.length > 0 ? values.join(' | ') : (SCALARS[name] ?? 'string');
}

function valueType(type: GraphQLOutputType, selection: SelectionSetNode | undefined): string {
  if (isNonNullType(type)) return bare(type.ofType as GraphQLOutputType, selection);
  return `${bare(type, selection)} | null`;
}

function bare(type: GraphQLOutputType, selection: SelectionSetNode | undefined): string {
  if (isListType(type)) return `readonly (${valueType(type.ofType as GraphQLOutputType, selection)})[]`;
  const named = getNamedType(type);
  return isObjectType(named) && selection ? objectType(named, selection) : leaf(named.name);
}

/** The interfaces so far: the name of each by its text. */
const selected = new Map<string, string>();

/** The name of the interface for a selection of fields of a type. */
function objectType(type: GraphQLObjectType, selection: SelectionSetNode): string {
  const text = membersOf(type, selection);
  const same = [...selected.values()].filter((name) => name.replace(/\d+$/, '') === type.name).length;
  if (!selected.has(text)) selected.set(text, same === 0 ? type.name : `${type.name}${String(same + 1)}`);
  return selected.get(text) ?? text;
}

function membersOf(type: GraphQLObjectType, { selections }: SelectionSetNode, typeOf = valueType): string {
  const fields = selections.filter((selection): selection is FieldNode => selection.kind === Kind.FIELD);
  const members = fields.map(({ name, alias, selectionSet }) => {
    const field = type.getFields()[name.value];
    if (!field) throw new Error(`${type.name} has no field ${name.value}`);
    return `readonly ${(alias ?? name).value}: ${typeOf(field.type, selectionSet)};`;
  });
  return `{ ${members.join(' ')} }`;
}

function variableType(type: TypeNode): string {
  if (type.kind === Kind.NON_NULL_TYPE) return variableType(type.type);
  if (type.kind === Kind.LIST_TYPE) return `readonly (${variableType(type.type)})[]`;
  return leaf(type.name.value);
}

/** The type of a field of an operation, which the schema says may be null, but not if the operation succeeds. */
const resultType: typeof valueType = (type, selection) => bare(getNullableType(type), selection);

function callType(name: string, text: string): string {
  const document = parse(text);
  const [error] = validate(schema, document, specifiedRules);
  if (error) throw new Error(`${name}: ${error.message}`);
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`${name} is not an operation`);
  const root = schema.getRootType(operation.operation);
  const [first] = operation.selectionSet.selections as readonly FieldNode[];
  const field = first && root?.getFields()[first.name.value];
  if (!root || !field) throw new Error(`${name} selects nothing`);
  const variables = (operation.variableDefinitions ?? []).map(({ variable, type }) =>
    type.kind === Kind.NON_NULL_TYPE
      ? `${variable.name.value}: ${variableType(type)};`
      : `${variable.name.value}?: ${variableType(type)} | null;`,
  );
  // what selects several fields has them by name
  const answer =
    first.alias?.value === 'value'
      ? resultType(field.type, first.selectionSet)
      : membersOf(root, operation.selectionSet, resultType);
  return `  ${name}: { variables: { ${variables.join(' ')} }; answer: ${answer} };`;
}

async function main(): Promise<void> {
  const members = Object.entries(DOCUMENTS).map(([name, text]) => callType(name, text));
  const types = [...selected].map(([text, name]) => `interface ${name} ${text}\n`);
  const text = `/* Written by npm run openapi, from documents.ts and the SDL. */\n\n${types.join('\n')}\nexport interface Calls {\n${members.join('\n')}\n}\n`;
  const formatted = await format(text, { ...(await resolveConfig(FILE)), parser: 'typescript' });
  if (process.argv[2] !== '--check') writeFileSync(FILE, formatted);
  else if (readFileSync(FILE, 'utf8') !== formatted) throw new Error(`${FILE} is out of date: run npm run openapi`);
}

void main();
