import type { GraphQLResolveInfo } from 'graphql';
import { isDuplicateKey } from '../mongo/faults';
import { READ_TIMEOUT } from '../mongo/native';
import { AppError, type Fault, notFound, validationFailed } from '../errors';
import { uniqueMembers, WITHOUT_SEARCH } from '../mongo/collection';
import type { OrganisationData } from '../tenant/organisationData';
import type { DataContext } from '../operations/context';
import { normaliseKeys } from '../schema/callerKeys';
import { tagOf, versionRequired } from '../schema/entityTags';
import { METADATA } from '../schema/metadata';
import { objectName } from '../schema/storedTypes';
import { personalDataFault } from './erasedCustomers';
import { requireServed } from './invalidRows';
import { brokenRules } from './brokenRules';
import { brokenTexts, replaceNegativeZero } from './brokenTexts';
import { mergeOf } from './merge';
import { metadataFaults, tooManyPairs, withMetadata } from './metadata';
import { erasedReferences, type Reference, referenceChecks } from './referenceFaults';
import type { Resource, Row } from './resource';
import { erasedFault, isSameRow, stampedRow, writeRows } from './rows';

/** Arguments of a PATCH: the id, the version to change, and the members to set. */
export interface ChangeArguments {
  readonly id: string;
  readonly if_match?: string | null;
  readonly [member: string]: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** How members are changed. */
export interface ChangeSpec<T> {
  /** Returns the members to set; those it leaves out keep their stored values. */
  readonly merge?: (before: T, input: Members, organisation: DataContext['principal']['organisation']) => object;
  /** Checks that span several of the given members. */
  readonly rules?: (input: Members) => readonly Fault[];
  readonly references?: readonly Reference[];
}

/**
 * Changes the given members of one object, in one transaction; the others keep their values. Nothing is stored if nothing would change. Resolves
 * with the row as it is stored then.
 * @throws AppError not_found; invalid_request if a condition cannot be read; precondition_failed if it is not in the version that they are for;
 * validation_failed; stored_object_invalid if it cannot be served, before the change or after it; conflict if another object has the same value in
 * a unique member.
 */
export async function changeObject<T extends Row>(
  resource: Resource<T>,
  { id, if_match: ifMatch, ...sent }: ChangeArguments,
  context: Pick<DataContext, 'data' | 'write' | 'principal' | 'ifNoneMatch' | 'noteInvalid'>,
  { schema }: Pick<GraphQLResolveInfo, 'schema'>,
  { merge = settingMembers(resource), rules, references = [] }: ChangeSpec<T> = {},
): Promise<object> {
  const { type } = resource.stored;
  const { data, write, principal, ifNoneMatch } = context;
  const requireVersion = versionRequired({ ifMatch, ifNoneMatch });
  throwFaults([...brokenTexts(sent), ...metadataFaults(sent), ...(rules?.(sent) ?? [])]);
  replaceNegativeZero(sent);
  const input = normaliseKeys(sent);
  // of metadata only changes are sent, which withMetadata makes
  const { [METADATA]: _changes, ...members } = input;
  const rows = data.collection(resource);
  const _id = id.toLowerCase();
  let attempted: Attempted = { _id };
  const work = (): Promise<object> =>
    write(
      async (session, now) => {
        const before = await rows.findOne<T>({ _id } as object, { session, maxTimeMS: READ_TIMEOUT });
        if (!before) throw notFound(nameOf(resource));
        // of the row as read in this transaction, which runs again if another changes it meanwhile; without a condition the tag is not asked for,
        // so that a change may replace the member for which the row cannot be served (invalidRows.ts)
        requireVersion(() => {
          requireServed(context, resource, before, WITHOUT_SEARCH);
          return tagOf(schema, type, before);
        });
        const erased = erasedFault(before, '');
        if (erased) {
          const detail = `This ${nameOf(resource)} was erased; only the operator can readmit it.`;
          throw new AppError('validation_failed', detail, { errors: [erased] });
        }
        const checkReferences = await referenceChecks(data, references, [members], session);
        throwFaults(checkReferences(members, '', before));
        const merged = { ...before, ...merge(before, members, principal.organisation) };
        const changed = withMetadata(merged, input, before);
        throwFaults(tooManyPairs(changed, before, resource.mostPairs));
        requireServed(context, resource, changed, WITHOUT_SEARCH);
        if (isSameRow(before, changed)) return before;
        throwFaults(erasedReferences(checkReferences, members, ''));
        const personal = await personalDataFault(data, resource, changed, session);
        if (personal) throwFaults([personal]);
        const row = stampedRow(changed, before, now);
        throwFaults(brokenRules(resource, row));
        attempted = row as Row & Members;
        await writeRows(rows, [{ row, before }], { ordered: true, session });
        return row;
      },
      { writes: [resource] },
    );
  return writeUnique(data, resource, () => attempted, work);
}

/** A row to store; of one that was not made yet, the id alone. */
type Attempted = Row & Members;

/**
 * Runs a write of an object; `attempted` gives what it tried to store last.
 * @throws AppError conflict if another object has one of its unique values
 */
export async function writeUnique<T, R extends Row>(
  data: OrganisationData,
  resource: Resource<R>,
  attempted: () => Attempted,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    const { _id, ...row } = attempted();
    const uniqueNames = uniqueMembers(resource).filter((member) => row[member] !== null && row[member] !== undefined);
    // an object without unique values cannot conflict with another
    if (uniqueNames.length === 0) throw error;
    for (const member of uniqueNames) {
      const another = { [member]: row[member], _id: { $ne: _id } } as object;
      const options = { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT };
      const owner = await data.whole.collection(resource).findOne<Row>(another, options);
      if (!owner) continue;
      // that a value is taken cannot be hidden from a restricted key; by whom, it is told of its own objects
      const isSeen =
        !data.customerIds || (await data.collection(resource).findOne<Row>({ _id: owner._id } as object, options));
      const fault = takenFault(resource, member, isSeen ? owner._id : undefined);
      throw new AppError('conflict', `${member}: ${fault.detail}`, { errors: [fault] });
    }
    throw new AppError('conflict', 'Another request stored the same value meanwhile; nothing was stored.');
  }
}

/** The name of an object in messages. */
const nameOf = ({ stored: { type } }: Pick<Resource, 'stored'>): string => objectName(type).replaceAll('_', ' ');

/** @throws AppError validation_failed if there are faults */
export function throwFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw validationFailed(faults);
}

/** The fault of a value that only one object may have; `owner` is the id of the one that has it, if the caller may know it. */
export function takenFault(resource: Pick<Resource, 'stored'>, member: string, owner?: string): Fault {
  const detail = `belongs to another ${nameOf(resource)}${owner === undefined ? '' : ` (id ${owner})`}`;
  return { pointer: `/${member}`, code: 'conflict', detail };
}

/** Sets members to the values given, as a bulk call would, and updates the search words. */
function settingMembers({ stored, words, gatewayIds }: Resource): NonNullable<ChangeSpec<Row>['merge']> {
  return (before, input, organisation) => {
    const merge = mergeOf({ stored, set: Object.keys(input) }, words, gatewayIds);
    const { search, ...row } = merge(before, input, organisation) as Members;
    // words that another program left out are filled in by events/tail/corrections.ts: a change that changes nothing must store nothing
    return 'search' in before ? { ...row, search } : row;
  };
}
