import { type DefinitionNode, type DocumentNode, type FieldDefinitionNode, Kind, type NameNode, visit } from 'graphql';
import {
  allFieldNodes,
  directiveOf,
  isObjectNode,
  isRootType,
  PAGE,
  rootFieldNodes,
  rowName,
  SUBSCRIPTION,
} from './sdl';

/**
 * The SDL of the REST API: only root fields with @rest, no fields with @graphql_only, and no subscriptions. A type with a field that only lists
 * omit gets a twin for list items (`Quote` and `QuoteItem`), and its list a twin whose items have the field (`quotes` and
 * `quotes_with_lines`), for `include`. Sofa selects every field of this schema, so fields that are not here cannot leak.
 */
export function deriveRestDocument(document: DocumentNode): DocumentNode {
  const twins = itemsOf(document);
  const hasWrites = rootFieldNodes(document).some(
    ({ kind, field }) => kind === 'Mutation' && directiveOf(field, 'rest'),
  );
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    if (!isObjectNode(node)) return [node];
    const { value: name } = node.name;
    // a type without fields would make the schema invalid
    if (name === SUBSCRIPTION || (name === 'Mutation' && !hasWrites)) return [];
    const fields = (node.fields ?? []).filter((field) => omittedFrom(field) !== 'EVERYWHERE');
    if (isRootType(name)) {
      const onRest = fields.filter((field) => directiveOf(field, 'rest'));
      return [{ ...node, fields: onRest.flatMap((field) => listTwins(field, twins)) }];
    }
    const kept = { ...node, fields };
    if (twins.has(name)) {
      const ofItem = fields.filter((field) => omittedFrom(field) !== 'LISTS');
      return [kept, { ...node, name: nameNode(itemName(name)), fields: ofItem }];
    }
    if (!name.endsWith(PAGE)) return [kept];
    const ofItems = renameTypes(kept, (type) => (twins.has(type) ? itemName(type) : type));
    return ofItems === kept ? [kept] : [ofItems, { ...kept, name: nameNode(pageWithAll(name)) }];
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

/** Where REST omits a field. */
export function omittedFrom(field: FieldDefinitionNode): 'LISTS' | 'EVERYWHERE' | undefined {
  return directiveOf(field, 'graphql_only')?.on;
}

/** The field that lists omit, by type. @throws Error if a type has several, since a list has only one twin */
function itemsOf(document: DocumentNode): ReadonlyMap<string, string> {
  const omitted = allFieldNodes(document).filter(({ field }) => omittedFrom(field) === 'LISTS');
  const twins = new Map(omitted.map(({ type, field }) => [type, field.name.value]));
  if (twins.size < omitted.length)
    throw new Error('invalid schema: a type has more than one field with @graphql_only(on: LISTS)');
  return twins;
}

/** A field, and its twin if it is a list whose items lack a field. */
function listTwins(field: FieldDefinitionNode, twins: ReadonlyMap<string, string>): FieldDefinitionNode[] {
  const included = twins.get(rowName(field) ?? '');
  if (included === undefined) return [field];
  const twin = { ...field, name: nameNode(listWith(field.name.value, included)) };
  return [field, { ...twin, type: renameTypes(field.type, pageWithAll) }];
}

/** Replaces the names of types in a node, which stays the same if none changes. */
function renameTypes<Node extends FieldDefinitionNode['type'] | DefinitionNode>(
  node: Node,
  renamed: (name: string) => string,
): Node {
  return visit(node, {
    NamedType: (type) => {
      const name = renamed(type.name.value);
      return name === type.name.value ? undefined : { ...type, name: nameNode(name) };
    },
  });
}

function nameNode(value: string): NameNode {
  return { kind: Kind.NAME, value };
}

/** Name of the list twin whose items have the included field. */
export function listWith(list: string, included: string): string {
  return `${list}_with_${included}`;
}

/** Path of the list twin, which is not public. */
export function pathWith(path: string, included: string): string {
  return `${path}/with-${included}`;
}

const ITEM = 'Item';
const WITH_ALL = 'WithAll';

export function itemName(type: string): string {
  return `${type}${ITEM}`;
}

function pageWithAll(page: string): string {
  return `${page}${WITH_ALL}`;
}

/** Whether a type is a page, or its twin with all fields. */
export function isPage(type: string): boolean {
  return type.endsWith(PAGE) || isPageWithAll(type);
}

export function isPageWithAll(type: string): boolean {
  return type.endsWith(pageWithAll(PAGE));
}
