import { mergeResolvers, type Resolvers } from '../operations/run';
import { published } from '../schema/model';
import type { StoredType } from '../schema/storedTypes';
import { deriveResolvers } from '../stored/derived';
import type { RecordKind } from '../stored/records';
import { defineResource, type Resource } from '../stored/resource';
import { customers } from './customers/customers';
import { eventResolvers } from './events';
import { meResolvers } from './me';
import { salesResolvers } from './productSales';
import { requestRecords } from './requests/records';
import { messages, requests } from './requests/requests';
import { requestResolvers } from './requests/service';
import { withOwnRules } from './ownRules';
import { RULES } from './rules';

/** Resources with more code of their own than rules; the others follow from the SDL and {@link RULES}. */
const OWN: ReadonlyMap<string, Resource> = new Map(
  [customers, requests, messages].map((resource) => [resource.stored.type, resource]),
);
/** The first types to import: lines name products by their sku, which no relation says. The rest follow, each after those that it refers to. */
const FIRST = ['Product', 'Customer'];

/** The collections of every organisation's database, in import order. */
export const collections: readonly Resource[] = inOrder().map(
  ({ type }) => OWN.get(type) ?? defineResource(type, withOwnRules(type, RULES[type])),
);

/** The stored types, each after those that its relations refer to, as far as they do not refer to each other. */
function inOrder(): StoredType[] {
  const ordered: StoredType[] = [];
  const seen = new Set<string>();
  function add(type: string): void {
    const stored = published.stored.get(type);
    if (!stored || seen.has(type)) return;
    // before its relations, since types may refer to each other
    seen.add(type);
    for (const relation of stored.relations) if (!relation.isList) add(relation.type);
    ordered.push(stored);
  }
  for (const type of [...FIRST, ...published.stored.keys()]) add(type);
  return ordered;
}

/** The resource of a collection. @throws Error if the SDL has no such collection */
export function resourceOf(name: string): Resource {
  const resource = collections.find((candidate) => candidate.name === name);
  if (!resource) throw new Error(`schema/ has no type with @stored(collection: "${name}")`);
  return resource;
}

/** What import and export handle, in import order. */
export const recordKinds: readonly RecordKind[] = [
  ...collections.flatMap(({ records }) => records ?? []),
  requestRecords,
];

/** All resolvers by type and field: those that follow from the SDL, then what it cannot say, which replaces any of the same name. */
export const resolvers: Resolvers = mergeResolvers(
  deriveResolvers(published, collections),
  salesResolvers(resourceOf('orders')),
  requestResolvers,
  meResolvers,
  eventResolvers,
);
