import { randomUUID } from 'node:crypto';
import { isDuplicateKey } from '../mongo/faults';
import type { Actor } from './auditEvents';
import type { NoteId } from './creations';
import type { ControlModels } from './models';
import { createOrganisationChanges } from './organisationChanges';
import { RefTakenError, StillErasingError } from './organisationErrors';
import { createOrganisationReads } from './organisationReads';
import {
  FOR_EARLIER_VERSIONS,
  forOperators,
  type OrganisationDocument,
  type OrganisationForOperators,
} from './organisationRows';
import { requireUnused, reusedMembers } from './reusedIds';

export interface NewOrganisation {
  /** That of an organisation that was erased, or of another installation; by default a new one. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly plan: string;
  /** ISO 4217; by default {@link DEFAULT_CURRENCY}. */
  readonly currency?: string | undefined;
  /** The shard for its database; by default the one with the fewest organisations. */
  readonly shard?: string | undefined;
  /** Whether it is the one that `demo` finds again. */
  readonly demo?: boolean;
  /** The operator's own id for it, unique. */
  readonly external_ref?: string | undefined;
}

/** Creates the database of a new organisation on a shard, if there are shards. @throws ShardRefused */
export type Place = (id: string, shard: string | undefined) => Promise<void>;

const DEFAULT_CURRENCY = 'USD';

/** Creates organisations as `actor`, and has what reads and changes them. `now` is the database's time. */
export function createOrganisations(models: ControlModels, actor: Actor, place: Place, now: () => number) {
  const reads = createOrganisationReads(models);

  /** @throws RefTakenError */
  async function requireFreeRef(external_ref: string | undefined): Promise<void> {
    if (external_ref !== undefined && (await reads.findByRef(external_ref))) throw new RefTakenError();
  }

  /** The organisation with an external_ref, if one is given and there is one. @throws StillErasingError */
  async function findOpenByRef(external_ref: string | undefined): Promise<OrganisationForOperators | undefined> {
    const organisation = external_ref === undefined ? undefined : await reads.findByRef(external_ref);
    if (organisation?.state === 'erasing')
      throw new StillErasingError(
        `organisation ${organisation.id} has this external_ref and is being erased; retry when it is gone`,
      );
    return organisation;
  }

  async function insert(input: NewOrganisation, noteId?: NoteId): Promise<OrganisationForOperators> {
    const { id, name, plan, currency = DEFAULT_CURRENCY, shard, demo, external_ref } = input;
    const members = { name, plan, currency, ...(external_ref !== undefined && { external_ref }) };
    const _id = id ?? randomUUID();
    const time = now();
    const document: OrganisationDocument = {
      _id,
      ...members,
      ...FOR_EARLIER_VERSIONS,
      state: 'active',
      created_at: new Date(time),
      ...(demo && { demo, unseeded: randomUUID() }),
      ...(id !== undefined && reusedMembers(time)),
    };
    // before the transaction: if that fails, an empty database stays on the shard
    await place(_id, shard);
    await models.change(async (session, record) => {
      await noteId?.(session, _id);
      await models.organisations.create([document], { session });
      await record(actor, 'organisation.created', _id, { ...members, ...(shard !== undefined && { shard }) });
    });
    return forOperators(document);
  }

  return {
    ...reads,
    ...createOrganisationChanges(models, actor, now),
    /** Creates an organisation. Its first write creates its database, or the first collection there. @throws ShardRefused; RefTakenError */
    async create(input: NewOrganisation): Promise<OrganisationForOperators> {
      // also here, so that a refusal leaves no empty database
      await requireFreeRef(input.external_ref);
      return insert(input).catch(async (error: unknown) => {
        // if another call used the external_ref meanwhile; otherwise it is the id that exists
        if (isDuplicateKey(error)) await requireFreeRef(input.external_ref);
        throw error;
      });
    },
    /** Call it before {@link create} with an id. Resolves with whether an organisation with this id was erased here. @throws IdTakenError */
    requireUnused: (id: string) => requireUnused(models, id, now()),
    /**
     * Creates an organisation, unless one has its external_ref. Concurrent calls create only one.
     * @throws StillErasingError; ShardRefused
     */
    async createOnce(
      input: NewOrganisation,
      noteId?: NoteId,
    ): Promise<{ organisation: OrganisationForOperators; isNew: boolean }> {
      const organisation = await findOpenByRef(input.external_ref);
      if (organisation) return { organisation, isNew: false };
      try {
        return { organisation: await insert(input, noteId), isNew: true };
      } catch (error) {
        // another call may have created it meanwhile
        const rival = isDuplicateKey(error) ? await findOpenByRef(input.external_ref) : undefined;
        if (rival) return { organisation: rival, isNew: false };
        throw error;
      }
    },
  };
}
