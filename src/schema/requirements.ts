import type { GraphQLSchema } from 'graphql';
import { OPERATOR } from '../auth/roles';
import { objectFields } from './jsonSchema';
import { type Access, accessOf, type Operation } from './declaredOperations';
import type { SchemaModel } from './model';
import { directiveOf } from './sdl';

/* Who may use a field, in words: for the descriptions of both APIs. */

/** A sentence in Markdown. The explorer reads from it, anywhere in a description, what keys cannot use and the scopes needed (web/explorer/schema.js). */
export function requirement({ scope, anyOf, role, readScope }: Access & Pick<Operation, 'readScope'>): string {
  if (role === OPERATOR) return 'Requires an operator token.';
  if (role) return `Requires a signed-in user with the role \`${role}\`; API keys cannot use it.`;
  if (anyOf) return `Requires one of the scopes ${anyOf.map((alternative) => `\`${alternative}\``).join(', ')}.`;
  const note = readScope && ` Without \`${readScope}\` its answer has only \`id\` and the members that were sent.`;
  return scope ? `Requires the scope \`${scope}\`.${note ?? ''}` : 'Any valid key can call it.';
}

/** Adds the requirement to the description of every guarded field of the schema, which it returns, for introspection. Call it once for a schema. */
export function describeRequirements(schema: GraphQLSchema, { operations, eventScopes }: SchemaModel): GraphQLSchema {
  for (const { type, field } of objectFields(schema)) {
    if (!directiveOf(field.astNode, 'access')) continue;
    // explorers list operations with their first paragraph only
    const [first = '', ...paragraphs] = (field.description ?? '').split('\n\n');
    const operation = operations.find(({ kind, name }) => kind === type && name === field.name);
    const needed = requirement(operation ?? accessOf(field.astNode, eventScopes));
    field.description = [`${first} ${needed}`.trim(), ...paragraphs].join('\n\n');
  }
  return schema;
}
