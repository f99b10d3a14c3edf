import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  visit,
} from 'graphql';

/* Reading the directives of the SDL, and deriving from it what the REST face may show. */

type ObjectNode = ObjectTypeDefinitionNode | ObjectTypeExtensionNode;
type RootType = 'Query' | 'Mutation';

const ROOT_TYPES: readonly string[] = ['Query', 'Mutation'];

export function allFieldNodes(document: DocumentNode): { type: string; field: FieldDefinitionNode }[] {
  return document.definitions
    .filter(isObjectNode)
    .flatMap((node) => (node.fields ?? []).map((field) => ({ type: node.name.value, field })));
}

export function rootFieldNodes(document: DocumentNode): { kind: RootType; field: FieldDefinitionNode }[] {
  return allFieldNodes(document)
    .filter(({ type }) => ROOT_TYPES.includes(type))
    .map(({ type, field }) => ({ kind: type as RootType, field }));
}

export function directiveOf(
  node: { readonly directives?: readonly ConstDirectiveNode[] } | null | undefined,
  name: string,
): ConstDirectiveNode | undefined {
  return node?.directives?.find((directive) => directive.name.value === name);
}

function argument(directive: ConstDirectiveNode, name: string): ConstDirectiveArgumentValue | undefined {
  return directive.arguments?.find((node) => node.name.value === name)?.value;
}
type ConstDirectiveArgumentValue = NonNullable<ConstDirectiveNode['arguments']>[number]['value'];

export function enumArgument(directive: ConstDirectiveNode, name: string): string | undefined {
  const value = argument(directive, name);
  return value?.kind === Kind.ENUM ? value.value : undefined;
}

export function intArgument(directive: ConstDirectiveNode, name: string): number | undefined {
  const value = argument(directive, name);
  return value?.kind === Kind.INT ? Number(value.value) : undefined;
}

export function stringArgument(directive: ConstDirectiveNode, name: string): string {
  const value = argument(directive, name);
  if (value?.kind !== Kind.STRING) throw new Error(`@${directive.name.value} lacks the text argument ${name}`);
  return value.value;
}

/**
 * The SDL of the REST face: root fields with @rest only, no field marked @graphql_only. A type with fields that are left
 * out of lists alone gets a twin for list items (`Quote` and `QuoteItem`). Sofa selects every field it is given, so what
 * is not here cannot leak.
 */
export function deriveRestDocument(document: DocumentNode): DocumentNode {
  const twins = new Set(
    allFieldNodes(document)
      .filter(({ field }) => isLeftOut(field, 'LISTS'))
      .map(({ type }) => type),
  );
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    if (!isObjectNode(node)) return [node];
    const kept = keepFields(node, (field) => !isLeftOut(field, 'EVERYWHERE'));
    if (twins.has(node.name.value)) return [kept, itemTwin(kept)];
    return [node.name.value.endsWith('Page') ? withItems(kept, twins) : kept];
  });
  return { ...document, definitions };
}

function isObjectNode(node: DefinitionNode): node is ObjectNode {
  return node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
}

function isLeftOut(field: FieldDefinitionNode, where: 'LISTS' | 'EVERYWHERE'): boolean {
  const directive = directiveOf(field, 'graphql_only');
  return directive !== undefined && (enumArgument(directive, 'on') ?? 'EVERYWHERE') === where;
}

function keepFields(node: ObjectNode, keep: (field: FieldDefinitionNode) => boolean): ObjectNode {
  const isRoot = ROOT_TYPES.includes(node.name.value);
  return {
    ...node,
    fields: (node.fields ?? []).filter((field) => (!isRoot || directiveOf(field, 'rest')) && keep(field)),
  };
}

function itemTwin(node: ObjectNode): ObjectNode {
  const items = keepFields(node, (field) => !isLeftOut(field, 'LISTS'));
  return { ...items, name: { kind: Kind.NAME, value: itemName(node.name.value) } };
}

function withItems(node: ObjectNode, twins: ReadonlySet<string>): ObjectNode {
  return visit(node, {
    NamedType: (type) =>
      twins.has(type.name.value) ? { ...type, name: { ...type.name, value: itemName(type.name.value) } } : undefined,
  });
}

function itemName(type: string): string {
  return `${type}Item`;
}
