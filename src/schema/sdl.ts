import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  parse,
  visit,
} from 'graphql';

/* Reads the SDL and its directives, and derives the SDL of the REST API. */

const SCHEMA_FOLDER = join(__dirname, '..', '..', 'schema');

let published: DocumentNode | undefined;

/** schema/*.graphql, read once. */
export function loadDocument(): DocumentNode {
  const files = (): string[] => readdirSync(SCHEMA_FOLDER).filter((file) => file.endsWith('.graphql'));
  const text = (): string =>
    files()
      .map((file) => readFileSync(join(SCHEMA_FOLDER, file), 'utf8'))
      .join('\n');
  return (published ??= parse(text(), { noLocation: true }));
}

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

export function optionalStringArgument(directive: ConstDirectiveNode, name: string): string | undefined {
  const value = argument(directive, name);
  return value?.kind === Kind.STRING ? value.value : undefined;
}

export function stringsArgument(directive: ConstDirectiveNode, name: string): string[] {
  const value = argument(directive, name);
  return value?.kind === Kind.LIST ? value.values.flatMap((one) => (one.kind === Kind.STRING ? one.value : [])) : [];
}

export function stringArgument(directive: ConstDirectiveNode, name: string): string {
  const value = optionalStringArgument(directive, name);
  if (value === undefined) throw new Error(`@${directive.name.value} lacks the string argument ${name}`);
  return value;
}

/**
 * The SDL of the REST API: only root fields with @rest, and no fields with @graphql_only. A type with a field that only lists
 * omit gets a twin for list items (`Quote` and `QuoteItem`), and its list a twin whose items have the field (`quotes` and
 * `quotes_with_lines`), for `include`. Sofa selects every field of this schema, so fields that are not here cannot leak.
 */
export function deriveRestDocument(document: DocumentNode): DocumentNode {
  const twins = itemsOf(document);
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    if (!isObjectNode(node)) return [node];
    const kept = keepFields(node, (field) => !isLeftOut(field, 'EVERYWHERE'));
    const { value: name } = node.name;
    if (twins.has(name)) return [kept, itemTwin(kept)];
    if (ROOT_TYPES.includes(name))
      return [{ ...kept, fields: (kept.fields ?? []).flatMap((field) => listTwins(field, twins)) }];
    if (!name.endsWith(PAGE)) return [kept];
    const items = withItems(kept, twins);
    return items === kept ? [kept] : [items, { ...kept, name: { ...kept.name, value: pageWithAll(name) } }];
  });
  return { ...document, definitions };
}

/** The value of `include` for each REST list, by list name: the field that its items lack. */
export function findIncludes(document: DocumentNode): ReadonlyMap<string, string> {
  const twins = itemsOf(document);
  return new Map(
    rootFieldNodes(document).flatMap(({ field }) => {
      const included = directiveOf(field, 'rest') && twins.get(rowName(field) ?? '');
      return included === undefined ? [] : [[field.name.value, included] as const];
    }),
  );
}

/** Name of the list twin whose items have the included field. */
export function listWith(list: string, included: string): string {
  return `${list}_with_${included}`;
}

const PAGE = 'Page';

/** The field that lists omit, by type. @throws Error if a type has several, since a list has only one twin */
function itemsOf(document: DocumentNode): ReadonlyMap<string, string> {
  const leftOut = allFieldNodes(document).filter(({ field }) => isLeftOut(field, 'LISTS'));
  const twins = new Map(leftOut.map(({ type, field }) => [type, field.name.value]));
  if (twins.size < leftOut.length)
    throw new Error('invalid schema: a type has more than one field with @graphql_only(on: LISTS)');
  return twins;
}

/** Type name of a list's pages; undefined if the field is not a list. */
export function pageOf({ type }: FieldDefinitionNode): string | undefined {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  return named.kind === Kind.NAMED_TYPE && named.name.value.endsWith(PAGE) ? named.name.value : undefined;
}

/** Type name of a list's rows; undefined if the field is not a list. */
export function rowName(field: FieldDefinitionNode): string | undefined {
  return pageOf(field)?.slice(0, -PAGE.length);
}

/** A field, and its twin if it is a list whose items lack a field. */
function listTwins(field: FieldDefinitionNode, twins: ReadonlyMap<string, string>): FieldDefinitionNode[] {
  const row = rowName(field);
  const included = row === undefined ? undefined : twins.get(row);
  if (row === undefined || included === undefined) return [field];
  const type = visit(field.type, {
    NamedType: (named) => ({ ...named, name: { ...named.name, value: pageWithAll(named.name.value) } }),
  });
  return [field, { ...field, name: { ...field.name, value: listWith(field.name.value, included) }, type }];
}

const WITH_ALL = 'WithAll';

function pageWithAll(page: string): string {
  return `${page}${WITH_ALL}`;
}

export function isPageWithAll(type: string): boolean {
  return type.endsWith(`${PAGE}${WITH_ALL}`);
}

export function isObjectNode(node: DefinitionNode): node is ObjectNode {
  return node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
}

export function isLeftOut(field: FieldDefinitionNode, where: 'LISTS' | 'EVERYWHERE'): boolean {
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

function withItems(node: ObjectNode, twins: ReadonlyMap<string, string>): ObjectNode {
  return visit(node, {
    NamedType: (type) =>
      twins.has(type.name.value) ? { ...type, name: { ...type.name, value: itemName(type.name.value) } } : undefined,
  });
}

const ITEM = 'Item';

function itemName(type: string): string {
  return `${type}${ITEM}`;
}

export function isItem(type: string): boolean {
  return type.endsWith(ITEM);
}

/** The type of an item's whole object. */
export function wholeOf(item: string): string {
  return item.slice(0, -ITEM.length);
}
