import type { DocumentNode, FieldDefinitionNode } from 'graphql';
import { directiveOf, namedType, rootFieldNodes } from '../sdl';
import { sentences } from './sentences';
import type { Types } from '../storedTypes';
import { upsertsOf } from '../upserts';

/* Finds writes that the wrong keys may make. */

/** One message per gap, with what to change where. */
export function writeGaps(document: DocumentNode, types: Types): string[] {
  const fields = rootFieldNodes(document);
  const reads = fields.flatMap(({ kind, field }) => (kind === 'Query' ? [field] : []));
  const upserts = new Map(upsertsOf(document).map((upsert) => [upsert.stored.type, upsert.operation]));
  const byName = new Map(fields.map(({ field }) => [field.name.value, field]));
  return fields.flatMap(({ kind, field }) => {
    if (kind !== 'Mutation') return [];
    const type = namedType(field.type);
    const bulk = types.has(type) ? byName.get(upserts.get(type) ?? '') : undefined;
    const found = [...scopeGaps(field, reads), ...(bulk ? pairGaps(field, bulk, type) : [])];
    return found.map((gap) => `Mutation.${field.name.value} has ${gap}`);
  });
}

function scopeOf(field: FieldDefinitionNode): string | undefined {
  return directiveOf(field, 'access')?.scope;
}

/** Finds writes that keys may make which were given to read. */
function scopeGaps(field: FieldDefinitionNode, reads: readonly FieldDefinitionNode[]): string[] {
  const scope = scopeOf(field);
  const read = scope === undefined ? undefined : reads.find((one) => scopeOf(one) === scope);
  return sentences(
    read && `the scope ${String(scope)}, with which keys read Query.${read.name.value}: use another for writes`,
  );
}

/** Finds a change of one object that needs another scope than the same change in a bulk call. */
function pairGaps(field: FieldDefinitionNode, bulk: FieldDefinitionNode, type: string): string[] {
  const method = directiveOf(field, 'rest')?.method;
  const [own, other] = [scopeOf(field), scopeOf(bulk)];
  const isChange = method === 'PATCH' || method === 'PUT';
  return sentences(
    isChange &&
      own !== other &&
      `the scope ${String(own)}, but Mutation.${bulk.name.value} changes each ${type} with ${String(other)}: use the same scope`,
  );
}
