import {
  type ASTNode,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  isTypeDefinitionNode,
  isTypeExtensionNode,
  Kind,
} from 'graphql';
import { isObjectNode, SUBSCRIPTION } from '../../src/schema/sdl';

/* The places of the SDL that can have directives, as sentences name them. */

type Directed = ASTNode & Readonly<{ directives?: readonly ConstDirectiveNode[] }>;

export interface Place<Kinds extends string = string, Node extends Directed = Directed> {
  /** `Query.orders(limit:)`, `ProductUpsert.sku`. */
  readonly name: string;
  readonly kind: Kinds;
  readonly node: Node;
}

/** A field: of a root type, of another object type, or of an interface. */
export interface FieldPlace extends Place<
  'query' | 'mutation' | 'stream' | 'member' | 'abstract',
  FieldDefinitionNode
> {
  /** Its type. */
  readonly owner: string;
}

/** An argument of a field or of a directive, or a field of an input type. */
export interface InputPlace extends Place<'argument' | 'setting' | 'input', InputValueDefinitionNode> {
  /** The field that it is an argument of. */
  readonly of?: FieldPlace;
}

export interface Places {
  readonly all: readonly Place[];
  readonly fields: readonly FieldPlace[];
  readonly inputs: readonly InputPlace[];
}

export function placesOf({ definitions }: DocumentNode): Places {
  const fields = definitions.flatMap(fieldsIn);
  const inputs = [...definitions.flatMap(inputsIn), ...fields.flatMap(argumentsOf)];
  return { all: [...definitions.flatMap(othersIn), ...fields, ...inputs], fields, inputs };
}

const KINDS: ReadonlyMap<string, FieldPlace['kind']> = new Map([
  ['Query', 'query'],
  ['Mutation', 'mutation'],
  [SUBSCRIPTION, 'stream'],
]);

function fieldsIn(node: DefinitionNode): FieldPlace[] {
  const isInterface = node.kind === Kind.INTERFACE_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_EXTENSION;
  if (!isInterface && !isObjectNode(node)) return [];
  const { name, fields = [] } = node;
  const owner = name.value;
  const kind = isInterface ? 'abstract' : (KINDS.get(owner) ?? 'member');
  return fields.map((field) => ({ name: `${owner}.${field.name.value}`, kind, node: field, owner }));
}

function argumentsOf(of: FieldPlace): InputPlace[] {
  return (of.node.arguments ?? []).map((node) => ({
    name: `${of.name}(${node.name.value}:)`,
    kind: 'argument',
    node,
    of,
  }));
}

function inputsIn(node: DefinitionNode): InputPlace[] {
  if (node.kind === Kind.DIRECTIVE_DEFINITION) {
    const { name, arguments: args = [] } = node;
    return args.map((one) => ({ name: `@${name.value}(${one.name.value}:)`, kind: 'setting', node: one }));
  }
  if (node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION && node.kind !== Kind.INPUT_OBJECT_TYPE_EXTENSION) return [];
  const { name, fields = [] } = node;
  return fields.map((field) => ({ name: `${name.value}.${field.name.value}`, kind: 'input', node: field }));
}

/** Types and values of enums. */
function othersIn(node: DefinitionNode): Place[] {
  if (!isTypeDefinitionNode(node) && !isTypeExtensionNode(node)) return [];
  const { value: name } = node.name;
  const values = 'values' in node ? (node.values ?? []) : [];
  return [
    { name, kind: 'type', node },
    ...values.map((one) => ({ name: `${name}.${one.name.value}`, kind: 'value', node: one })),
  ];
}
