import { buildASTSchema, type DocumentNode, type FieldDefinitionNode } from 'graphql';
import { ROLES } from '../../auth/roles';
import { SCOPES } from '../../auth/scopes';
import { answerGaps, endlessGaps } from './answerGaps';
import { argumentGaps } from './argumentGaps';
import { constraintGaps } from './constraintGaps';
import { definitionGaps } from './definitionGaps';
import { directiveGaps, valueGaps } from './directiveGaps';
import { filterGaps } from './filterGaps';
import type { ResolverTable } from '../resolvers';
import { listGaps } from './listGaps';
import { markGaps, toolGaps } from './mcpGaps';
import { restGaps } from './restGaps';
import { allFieldNodes, directiveOf, isRootType, SUBSCRIPTION } from '../sdl';
import { type CheckedResource, sentences } from './sentences';
import { storedGaps } from './storedGaps';
import { tableGaps } from './tableGaps';
import { twinGaps } from './twinGaps';

/** Refuses a schema that the server could not serve as it says. @throws Error with one message per gap, with what to change where */
export function refuseGaps(
  document: DocumentNode,
  resolvers: ResolverTable,
  resources: readonly CheckedResource[],
): void {
  // reports syntax, unknown types and arguments that directives lack
  const schema = buildASTSchema(document);
  // what is below reads these values, and would not end in types without end
  refuse([...valueGaps(document, schema), ...endlessGaps(schema)]);
  refuse([
    ...filterGaps(document, resources),
    ...listGaps(document, resolvers),
    ...storedGaps(document, resources, resolvers),
    ...allFieldNodes(document).flatMap(({ type, field }) => fieldGaps(document, type, field, resolvers)),
    ...restGaps(document),
    ...answerGaps(schema),
    ...argumentGaps(document),
    ...directiveGaps(document, schema),
    ...constraintGaps(document, schema),
    ...definitionGaps(document, schema),
    ...twinGaps(document, resolvers),
    ...tableGaps(document),
  ]);
}

function refuse(gaps: readonly string[]): void {
  if (gaps.length > 0) throw new Error(`invalid schema: ${gaps.join('; ')}`);
}

function fieldGaps(
  document: DocumentNode,
  type: string,
  field: FieldDefinitionNode,
  resolvers: ResolverTable,
): string[] {
  return [
    ...(isRootType(type) ? [...sunsetGaps(field), ...toolGaps(document, type, field)] : []),
    ...markGaps(field),
    ...accessGaps(type, field, resolvers),
  ].map((gap) => `${type}.${field.name.value} ${gap}`);
}

function accessGaps(type: string, field: FieldDefinitionNode, resolvers: ResolverTable): string[] {
  const access = directiveOf(field, 'access');
  const { scope, any_of: anyOf = [], events = false, role } = access ?? {};
  const isForKeys = scope !== undefined || anyOf.length > 0 || events;
  const unknown = [...anyOf, ...(scope === undefined ? [] : [scope])].filter((one) => !Object.hasOwn(SCOPES, one));
  const isGuarded = isRootType(type) || type === SUBSCRIPTION || access !== undefined;
  return sentences(
    isGuarded && !access && 'has no @access',
    ...unknown.map((one) => `has the unknown scope ${one}`),
    access?.any_of?.length === 0 && 'has @access(any_of: []), which no key meets: name scopes',
    scope !== undefined && anyOf.length > 0 && 'has scope and any_of: use one of them',
    events && (scope !== undefined || anyOf.length > 0) && 'has events and scopes: use one of them',
    role !== undefined && !Object.hasOwn(ROLES, role) && `has the unknown role ${role}`,
    role !== undefined && isForKeys && 'has a scope and a role; a field is either for keys or for users',
    role !== undefined && directiveOf(field, 'rest') && 'is for users but has @rest',
    isGuarded && !resolvers[type]?.[field.name.value] && 'has no resolver',
  );
}

/** Whether a text is a day of the calendar; 30 February would be read as another. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`);
}

function sunsetGaps(field: FieldDefinitionNode): string[] {
  const sunset = directiveOf(field, 'sunset');
  if (!sunset) return [];
  const { since, on } = sunset;
  const invalid = [since, on].filter((day) => !isDay(day));
  return sentences(
    ...invalid.map((day) => `has @sunset with ${day}: write days as 2026-11-21`),
    invalid.length === 0 && since >= on && 'has @sunset(on:) no later than since: give callers time between the two',
    !directiveOf(field, 'deprecated') &&
      'has @sunset and no @deprecated: add the reason, which says what to use instead',
  );
}
