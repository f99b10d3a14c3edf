import type { DocumentNode } from 'graphql';
import { ROLES } from '../access/roles';
import { SCOPES } from '../access/scopes';
import { filterGaps } from './filterGaps';
import type { Resolvers } from './guard';
import { routeGaps } from './routeGaps';
import { allFieldNodes, directiveOf, enumArgument } from './sdl';
import { type CheckedResource, storedGaps } from './storedGaps';
import { sunsetGaps } from './sunset';

/** @throws Error with one message per gap, with what to change where */
export function refuseGaps(document: DocumentNode, resolvers: Resolvers, resources: readonly CheckedResource[]): void {
  const gaps = [
    ...filterGaps(document, resources),
    ...storedGaps(document, resources),
    ...routeGaps(document),
    ...sunsetGaps(document),
  ];
  for (const { type, field } of allFieldNodes(document)) {
    const name = `${type}.${field.name.value}`;
    const isRoot = type === 'Query' || type === 'Mutation';
    const access = directiveOf(field, 'access');
    const scope = access && enumArgument(access, 'scope');
    const role = access && enumArgument(access, 'role');
    if (isRoot && !access) gaps.push(`${name} has no @access`);
    if (scope !== undefined && !Object.hasOwn(SCOPES, scope)) gaps.push(`${name} has the unknown scope ${scope}`);
    if (role !== undefined && !Object.hasOwn(ROLES, role)) gaps.push(`${name} has the unknown role ${role}`);
    if (role !== undefined && scope !== undefined)
      gaps.push(`${name} has a scope and a role; a field is either for keys or for users`);
    const rest = directiveOf(field, 'rest');
    if (role !== undefined && rest) gaps.push(`${name} is for users but has @rest`);
    if ((isRoot || access) && !resolvers[type]?.[field.name.value]) gaps.push(`${name} has no resolver`);
  }
  if (gaps.length > 0) throw new Error(`invalid schema: ${gaps.join('; ')}`);
}
