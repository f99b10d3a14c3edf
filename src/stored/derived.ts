import type { FieldDefinitionNode } from 'graphql';
import type { ListArguments, Page } from '../database/pagination';
import { fastListOf, fastObjectOf } from '../fastReads';
import { tooLarge } from '../operations/answers';
import type { RequestContext } from '../operations/context';
import { ETAG } from '../schema/entityTags';
import type { Resolver, Resolvers } from '../operations/run';
import { directiveOf, namedType, rowName, type Sdl } from '../schema/sdl';
import { type Relation, totalledAmounts, typeOf } from '../schema/storedTypes';
import { requireNumbers } from './brokenNumbers';
import { listPage, listPageText, readOne } from './collection';
import { tagResolver } from './entityTag';
import { listOfParent } from './parentList';
import { projectionOfList, projectionOfObject } from './projections';
import { listedRow, referredRow } from './references';
import type { Resource, Row } from './resource';
import { totals, type TotalsArguments } from './totals';

/*
 * Resolvers derived from the SDL: lists and reads of stored types, references between them in both directions, entity tags, and totals.
 * Fields that do more have their own resolver, in their resource.
 */

export function deriveResolvers(sdl: Sdl, resources: readonly Resource[]): Resolvers {
  const byType = new Map(resources.map((resource) => [resource.stored.type, resource]));
  const resolvers: Resolvers = {};
  const add = (type: string, field: FieldDefinitionNode, resolve: Resolver | undefined): void => {
    if (resolve) resolvers[type] = { ...resolvers[type], [field.name.value]: resolve };
  };
  for (const { kind, field } of sdl.roots) {
    if (kind === 'Query') add(kind, field, ofRoot(sdl, field, byType));
    const rows = directiveOf(field, 'totals') && sdl.rowTypeOf(namedType(field.type));
    for (const inner of sdl.fieldsOf(rows)) {
      const other = byType.get(namedType(inner.type));
      if (rows !== undefined && other) add(rows, inner, refersTo(other, `${inner.name.value}_id`));
    }
  }
  for (const owner of resources) {
    const { type, relations } = owner.stored;
    for (const relation of relations) add(type, relation.field, ofRelation(relation, owner, byType.get(relation.type)));
    const tag = sdl.fieldsOf(type).find(({ name }) => name.value === ETAG);
    if (tag) add(type, tag, tagResolver(type));
  }
  return resolvers;
}

type Args = ListArguments & Readonly<Record<string, unknown>>;

function ofRoot(sdl: Sdl, field: FieldDefinitionNode, byType: ReadonlyMap<string, Resource>): Resolver | undefined {
  const { name, arguments: args = [] } = field;
  const total = directiveOf(field, 'totals');
  if (total) {
    const collection = byType.get(total.of);
    if (!collection) return undefined;
    const { stored } = collection;
    const amounts = totalledAmounts(sdl, field, stored);
    const spec = { collection, at: total.at, isDay: typeOf(stored, total.at) === 'Date', amounts };
    return (_, given, { data }) => totals(data, spec, given as TotalsArguments);
  }
  const listed = byType.get(rowName(field) ?? '');
  if (listed?.name === name.value) {
    const list: Resolver = async (_, given, context, info) => {
      const page = await listPage(context, listed, given as Args, projectionOfList(listed, info));
      return unlessRefused(context, requireRows(listed, page));
    };
    return Object.assign(list, { fastReadOf: fastListOf(listed, listPageText) });
  }
  const read = byType.get(namedType(field.type));
  if (!read || args.length !== 1 || args[0]?.name.value !== 'id') return undefined;
  const readById: Resolver = async (_, { id }, { data }, info) => {
    const row = await readOne(data, read, id as string, name.value, projectionOfObject(read, info));
    requireNumbers(read, row);
    return row;
  };
  return Object.assign(readById, { fastReadOf: fastObjectOf(read, name.value) });
}

function ofRelation({ isList, member }: Relation, owner: Resource, other: Resource | undefined): Resolver | undefined {
  if (!other) return undefined;
  if (isList) {
    const parent = { collection: owner, field: member };
    return async (row, given, context, info) => {
      const { _id: id } = row as Row;
      const args = given as Args;
      const projection = projectionOfList(other, info, member);
      const read = (one: string) => listedRow({ resource: other, id: one, context, info }, projection);
      const page = await listOfParent(context, other, parent, id, args, { projection, read });
      // the rows of a first page were checked when they were read
      return unlessRefused(context, typeof args.cursor === 'string' ? requireRows(other, page) : page);
    };
  }
  return refersTo(other, member);
}

/** Resolves to the object whose id is in a member of a row. */
function refersTo(other: Resource, member: string): Resolver {
  return (row, _, context, info) => {
    const id = (row as Readonly<Record<string, unknown>>)[member];
    return typeof id === 'string' ? referredRow({ resource: other, id, context, info }) : null;
  };
}

function requireRows<T extends Row>(resource: Resource, page: Page<T>): Page<T> {
  if (resource.brokenNumber) for (const row of page.data) requireNumbers(resource, row);
  return page;
}

/** The page without its rows if the answer is refused, since nobody gets it. */
function unlessRefused(context: RequestContext, page: Page<Row>): Page<Row> {
  return tooLarge(context) ? { ...page, data: [] } : page;
}
