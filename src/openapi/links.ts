import { getNamedType, type GraphQLField, isObjectType } from 'graphql';
import { readsOneObject } from '../rest/routes';
import type { RestOperation } from '../schema/declaredOperations';

/** An operation and its root field. */
export interface Endpoint {
  readonly operation: RestOperation;
  readonly field: GraphQLField<unknown, never>;
}

/**
 * The operationId, and so the method name in generated clients: a verb and an object. Reads get a verb, since their name
 * alone (`products`, `request`) is unclear in a client and may conflict with a method that all clients have; writes already
 * have one. A page is what has `data`.
 */
export function operationIdOf({ operation: { name, rest }, field }: Endpoint): string {
  if (rest.method !== 'GET') return name;
  return `${membersOf(field).includes('data') ? 'list' : 'get'}_${name}`;
}

interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly description: string;
}

/** Pointers to the id in a response, of which the first that fits counts: of a page's first row, of a bulk call's first result, or of an object. */
const ID_POINTERS: readonly (readonly [member: string, pointer: string])[] = [
  ['data', '/data/0/id'],
  ['results', '/results/0/id'],
  ['id', '/id'],
];

/**
 * OpenAPI links: operations that take an id from the response, by operationId. They are those on the same object and, of a single object, those on
 * what it refers to and on what belongs to it.
 */
export function linksOf({ operation, field }: Endpoint, all: readonly Endpoint[]): Record<string, Link> {
  const members = membersOf(field);
  const links: Record<string, Link> = {};
  const add = (target: Endpoint, parameter: string, pointer: string, description: string): void => {
    if (target.operation === operation) return;
    const id = operationIdOf(target);
    links[id] = { operationId: id, parameters: { [parameter]: `$response.body#${pointer}` }, description };
  };
  const [, pointer] = ID_POINTERS.find(([member]) => members.includes(member)) ?? [];
  if (pointer !== undefined) {
    const object = `${collectionOf(operation)}/:id`;
    for (const target of all.filter(({ operation: { rest } }) => `${rest.path}/`.startsWith(`${object}/`))) {
      add(target, 'id', pointer, 'The same object.');
    }
  }
  if (!readsOneObject(operation)) return links;
  for (const target of all) {
    const owner = `${operation.name}_id`;
    if (target.operation.rest.method === 'GET' && target.field.args.some(({ name }) => name === owner)) {
      add(target, owner, '/id', `Objects that belong to the ${operation.name}.`);
    }
    const member = `${target.operation.name}_id`;
    if (readsOneObject(target.operation) && members.includes(member)) {
      add(target, 'id', `/${member}`, `The ${target.operation.name} it refers to, if any.`);
    }
  }
  return links;
}

/** Path of an operation's collection: /quotes for /quotes/:id and /quotes/bulk. */
function collectionOf({ rest }: RestOperation): string {
  return rest.path.replace(/\/(bulk|:id)$/, '');
}

function membersOf({ type }: GraphQLField<unknown, never>): string[] {
  const named = getNamedType(type);
  return isObjectType(named) ? Object.keys(named.getFields()) : [];
}
