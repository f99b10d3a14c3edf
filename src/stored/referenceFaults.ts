import type { ClientSession } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from '../tenant/organisationData';
import type { Fault } from '../errors';
import { ERASED_AT } from '../schema/personal';
import { objectName, referencesTo } from '../schema/storedTypes';
import { isObject } from './elementFaults';
import type { Resource, Row } from './resource';
import { erasedFault } from './rows';

/* References to objects that are not there, or were erased. */

/** A member with the id of another object. */
export interface Reference {
  readonly member: string;
  readonly to: Resource;
}

/** The references of a resource to others. */
export function referencesOf({ stored }: Resource, resources: Iterable<Resource>): Reference[] {
  return [...resources].flatMap((to) => referencesTo(to.stored.type, stored).map((member) => ({ member, to })));
}

/** The fault of a reference whose object is `row`, undefined if there is none; undefined if the object can be referred to. `name` and `identifier` are for the message. */
export function referenceFault(
  row: object | undefined,
  {
    pointer,
    name,
    identifier = 'id',
  }: { readonly pointer: string; readonly name: string; readonly identifier?: string },
): Fault | undefined {
  if (row) return erasedFault(row, pointer);
  return { pointer, code: 'not_found', detail: `is not the ${identifier} of a ${name} of the organisation` };
}

/** Finds the faults of the references in an input, whose pointer is `at`. Of those that the stored row has already it finds none. */
export type ReferenceCheck = (input: unknown, at: string, stored?: object) => Fault[];

/** Looks up what `inputs` refer to, with one read for each resource. */
export async function referenceChecks(
  data: OrganisationData,
  references: readonly Reference[],
  inputs: readonly unknown[],
  session: ClientSession,
): Promise<ReferenceCheck> {
  const idOf = (input: unknown, { member }: Reference): string | undefined => {
    const id = isObject(input) ? input[member] : undefined;
    // as ids are stored (merge.ts)
    return typeof id === 'string' ? id.toLowerCase() : undefined;
  };
  const idsByResource = new Map<Resource, Set<string>>();
  for (const reference of references) {
    const ids = inputs.flatMap((input) => idOf(input, reference) ?? []);
    if (ids.length > 0) idsByResource.set(reference.to, new Set([...(idsByResource.get(reference.to) ?? []), ...ids]));
  }
  const rowsByResource = new Map<Resource, ReadonlyMap<string, Row>>();
  for (const [to, ids] of idsByResource) {
    const options = { session, projection: { [ERASED_AT]: 1 }, maxTimeMS: READ_TIMEOUT, ...atMost(ids.size) };
    const rows = await data
      .collection(to)
      .find({ _id: { $in: [...ids] } }, options)
      .toArray();
    rowsByResource.set(to, new Map(rows.map((row) => [row._id, row])));
  }
  return (input, at, stored) =>
    references.flatMap((reference) => {
      const id = idOf(input, reference);
      // an object may be sent back as it was read, also if what it refers to is gone
      if (id === undefined || id === idOf(stored, reference)) return [];
      const { member, to } = reference;
      const place = { pointer: `${at}/${member}`, name: objectName(to.stored.type) };
      return referenceFault(rowsByResource.get(to)?.get(id), place) ?? [];
    });
}

/**
 * The faults of references to erased customers, whether the row has them already or not. A row that would change has them all, since the change
 * could bring back what the erasure removed.
 */
export const erasedReferences = (check: ReferenceCheck, input: unknown, at: string): Fault[] =>
  check(input, at).filter(({ code }) => code === 'erased');
