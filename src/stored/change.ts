import { isDeepStrictEqual } from 'node:util';
import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from '../operations/context';
import { AppError, notFound, validationFailed } from '../errors';
import { matcherOf, tagOf } from '../schema/entityTags';
import { referenceTo } from '../schema/storedTypes';
import { brokenTexts } from './brokenTexts';
import { toRecord } from './records';
import type { Resource } from './resource';
import { changedAt } from './rows';

/** Arguments of a PATCH: the id, the version to change, and the members to set. */
export interface ChangeArguments {
  readonly id: string;
  readonly if_match?: string | null;
  readonly [member: string]: unknown;
}

/**
 * Sets the given members of one object, in one transaction; the others keep their values. A change of nothing stores nothing.
 * @throws AppError not_found; precondition_failed if it is not in the version of `if_match`; validation_failed.
 */
export async function changeObject(
  resource: Resource,
  { id, if_match: ifMatch, ...members }: ChangeArguments,
  { data, write }: Pick<RequestContext, 'data' | 'write'>,
  { schema }: Pick<GraphQLResolveInfo, 'schema'>,
): Promise<object> {
  const { stored, records } = resource;
  if (!records) throw new Error(`${stored.type} is part of another record`);
  const matches = matcherOf(ifMatch);
  const broken = brokenTexts(members);
  if (broken.length > 0) throw validationFailed(broken);
  return write(
    async (session, now) => {
      const row = await data.collection(resource).findOne({ _id: id.toLowerCase() }, { session });
      if (!row) throw notFound(referenceTo(stored.type).replace(/_id$/, ''));
      // the row is that of this transaction: after a concurrent change, it runs again and reads the new one
      if (!matches(tagOf(schema, stored.type, row)))
        throw new AppError('precondition_failed', 'The object has changed since the version in If-Match.');
      const before = asJson(toRecord(row));
      const changed = { ...before, ...asJson(members) };
      if (isDeepStrictEqual(before, changed)) return row;
      const { updated_at: last } = row as { updated_at?: Date };
      const record = { ...changed, ...(last && { updated_at: changedAt(last, now).toISOString() }) };
      const faults = records.rules(record);
      const [stands] = faults.length > 0 ? [] : await records.store(data, [record], session);
      if (stands?.outcome !== 'updated') throw validationFailed(stands?.errors ?? faults);
      return { ...record, _id: row._id };
    },
    { writes: records.writes },
  );
}

/** With times as strings, and without what is undefined. */
function asJson<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
