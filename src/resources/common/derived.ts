import type { DocumentNode, FieldDefinitionNode, GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from '../../context';
import type { Projection } from '../../database/collection';
import type { ListArguments } from '../../database/pagination';
import type { Resolver, Resolvers } from '../../schema/guard';
import { ETAG, tagOf } from '../../schema/entityTags';
import { allFieldNodes, directiveOf, rowName, stringArgument } from '../../schema/sdl';
import { namedType, referenceTo, totalledAmounts } from '../../schema/stored';
import { listPage, readOne, WITHOUT_SEARCH } from './collection';
import { listOfParent } from './parentList';
import type { Resource, Row } from './resource';
import { selects } from './selection';
import { totals, type TotalsArguments } from './totals';

/*
 * Resolvers derived from the SDL: lists and reads of stored types, references between them in both directions, and totals.
 * Fields that do more have their own resolver, in their resource.
 */

export function deriveResolvers(document: DocumentNode, resources: readonly Resource[]): Resolvers {
  const byType = new Map(resources.map((resource) => [resource.stored.type, resource]));
  const resolvers: Resolvers = {};
  for (const { type, field } of allFieldNodes(document)) {
    const resolve = type === 'Query' ? ofRoot(document, field, byType) : ofMember(field, byType.get(type), byType);
    if (resolve) resolvers[type] = { ...resolvers[type], [field.name.value]: resolve };
  }
  return resolvers;
}

type ByType = ReadonlyMap<string, Resource>;
type Args = ListArguments & Readonly<Record<string, unknown>>;

function ofRoot(document: DocumentNode, field: FieldDefinitionNode, byType: ByType): Resolver | undefined {
  const name = field.name.value;
  const total = directiveOf(field, 'totals');
  if (total) return totalsOf(document, field, byType.get(stringArgument(total, 'of')), stringArgument(total, 'at'));
  const listed = byType.get(rowName(field) ?? '');
  if (listed?.name === name) {
    const projectionOf = projections(listed, 'data');
    return (_, args, { data }, info) => listPage(data, listed, args as Args, projectionOf(info));
  }
  const read = byType.get(namedType(field.type));
  if (!read || !readsById(field)) return undefined;
  const projectionOf = projections(read);
  return (_, { id }, { data }, info) => readOne(data, read, id as string, name, projectionOf(info));
}

function readsById({ arguments: args = [] }: FieldDefinitionNode): boolean {
  return args.length === 1 && args[0]?.name.value === 'id';
}

/** The resolver for a reference of a stored type: the objects that refer to it, or the object it refers to. */
function ofMember(field: FieldDefinitionNode, owner: Resource | undefined, byType: ByType): Resolver | undefined {
  if (!owner) return undefined;
  const listed = byType.get(rowName(field) ?? '');
  if (listed) {
    const parent = { collection: owner, field: referenceTo(owner.stored.type) };
    const projectionOf = projections(listed, 'data');
    return (row, args, { data }, info) =>
      listOfParent(data, listed, parent, (row as Row)._id, args as Args, projectionOf(info));
  }
  if (field.name.value === ETAG) return (row, _, __, { schema }) => tagOf(schema, owner.stored.type, row as Row);
  const named = byType.get(namedType(field.type));
  if (!named) return undefined;
  const member = `${field.name.value}_id`;
  const projectionOf = projections(named);
  return (row, _, { data }: RequestContext, info) => {
    const id = (row as Readonly<Record<string, unknown>>)[member];
    return typeof id === 'string' ? data.related(named, id, projectionOf(info)) : null;
  };
}

function totalsOf(
  document: DocumentNode,
  field: FieldDefinitionNode,
  resource: Resource | undefined,
  at: string,
): Resolver | undefined {
  if (!resource) return undefined;
  const amounts = totalledAmounts(document, field, resource.stored);
  return (_, args, { data }) => totals(data, { collection: resource, at, amounts }, args as TotalsArguments);
}

/** The projection of a query: never search words, and members that lists omit only if selected; the entity tag is of all of them. */
function projections(
  { stored: { heldBack }, projection }: Resource,
  ...path: readonly string[]
): (info: GraphQLResolveInfo) => Projection {
  if (heldBack.length === 0) return () => projection;
  return (info) => ([...heldBack, ETAG].some((name) => selects(info, ...path, name)) ? WITHOUT_SEARCH : projection);
}
