import type { DocumentNode } from 'graphql';
import { ROLES } from '../access/roles';
import { SCOPES } from '../access/scopes';
import { type CheckedList, filterGaps } from './filterGaps';
import type { Resolvers } from './guard';
import { allFieldNodes, directiveOf, enumArgument } from './sdl';

/** Methods whose checks, document and routes there are. */
const METHODS: readonly string[] = ['GET', 'POST'];

export function refuseGaps(document: DocumentNode, resolvers: Resolvers, lists: readonly CheckedList[]): void {
  const gaps = filterGaps(document, lists);
  for (const { type, field } of allFieldNodes(document)) {
    const name = `${type}.${field.name.value}`;
    const isRoot = type === 'Query' || type === 'Mutation';
    const access = directiveOf(field, 'access');
    const scope = access && enumArgument(access, 'scope');
    const role = access && enumArgument(access, 'role');
    if (isRoot && !access) gaps.push(`${name} has no @access`);
    if (scope !== undefined && !Object.hasOwn(SCOPES, scope)) gaps.push(`${name} names the unknown scope ${scope}`);
    if (role !== undefined && !Object.hasOwn(ROLES, role)) gaps.push(`${name} names the unknown role ${role}`);
    if (role !== undefined && scope !== undefined)
      gaps.push(`${name} names a scope and a role; keys and users never share a field`);
    const rest = directiveOf(field, 'rest');
    if (role !== undefined && rest) gaps.push(`${name} is for users and has @rest`);
    const method = rest && enumArgument(rest, 'method');
    if (method !== undefined && !METHODS.includes(method))
      gaps.push(`${name} has @rest(method: ${method}); REST operations are ${METHODS.join(' or ')}`);
    if ((isRoot || access) && !resolvers[type]?.[field.name.value]) gaps.push(`${name} has no resolver`);
  }
  if (gaps.length > 0) throw new Error(`the schema is not fit to serve: ${gaps.join('; ')}`);
}
