import {
  type ASTNode,
  type ConstDirectiveNode,
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
  readonly owner: string;
}

/** An argument of a field or of a directive, or a field of an input type. */
export interface InputPlace extends Place<'argument' | 'setting' | 'input', InputValueDefinitionNode> {
  readonly of?: FieldPlace;
}

export interface Places {
  readonly all: readonly Place[];
  readonly fields: readonly FieldPlace[];
  readonly inputs: readonly InputPlace[];
}

const ROOTS: ReadonlyMap<string, FieldPlace['kind']> = new Map([
  ['Query', 'query'],
  ['Mutation', 'mutation'],
  [SUBSCRIPTION, 'stream'],
]);

export function placesOf({ definitions }: DocumentNode): Places {
  const [others, fields, inputs]: [Place[], FieldPlace[], InputPlace[]] = [[], [], []];
  for (const node of definitions) {
    if (node.kind === Kind.DIRECTIVE_DEFINITION) {
      const nameOf = (argument: string): string => `@${node.name.value}(${argument}:)`;
      for (const one of node.arguments ?? []) inputs.push({ name: nameOf(one.name.value), kind: 'setting', node: one });
    }
    if (!isTypeDefinitionNode(node) && !isTypeExtensionNode(node)) continue;
    const { value: owner } = node.name;
    const inside = (member: { readonly name: { readonly value: string } }): string => `${owner}.${member.name.value}`;
    others.push({ name: owner, kind: 'type', node });
    for (const value of 'values' in node ? (node.values ?? []) : [])
      others.push({ name: inside(value), kind: 'value', node: value });
    for (const field of 'fields' in node ? (node.fields ?? []) : []) {
      const name = inside(field);
      if (field.kind === Kind.INPUT_VALUE_DEFINITION) {
        inputs.push({ name, kind: 'input', node: field });
        continue;
      }
      const kind = isObjectNode(node) ? (ROOTS.get(owner) ?? 'member') : 'abstract';
      const of: FieldPlace = { name, kind, node: field, owner };
      fields.push(of);
      for (const one of field.arguments ?? [])
        inputs.push({ name: `${name}(${one.name.value}:)`, kind: 'argument', node: one, of });
    }
  }
  return { all: [...others, ...fields, ...inputs], fields, inputs };
}
