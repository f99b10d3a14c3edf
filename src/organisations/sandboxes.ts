import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import type { Organisation } from '../auth/principal';
import type { Actor } from './auditEvents';
import type { Place } from './organisations';
import type { ControlModels } from './models';
import {
  CHANGEABLE,
  FOR_EARLIER_VERSIONS,
  holdOrganisation,
  type OrganisationForOperators,
  type OrganisationDocument,
  forOperators,
  toOrganisation,
} from './organisationRows';

/* The sandboxes of organisations (docs/decisions/sandboxes.md). */

export interface Sandbox {
  readonly organisation: OrganisationForOperators;
  /** A mark while its sample is not complete: noteSeeded removes it, unless a reset began meanwhile and so set another; undefined afterwards. */
  readonly unseeded: string | undefined;
}

export interface NewSandbox {
  /** Id of its organisation. */
  readonly of: string;
  /** By default its owner's name followed by `sandbox`. */
  readonly name?: string | undefined;
  /** The shard for its database; by default the one with the fewest organisations. */
  readonly shard?: string | undefined;
  /** Whether the caller will store the sample, and then call noteSeeded. */
  readonly willBeSeeded: boolean;
}

/** What marks begin with while a reset deletes objects, and after one that was killed: it may delete again whatever is stored then. */
const EMPTYING = 'emptying:';

/** Whether somebody other than a reset is to complete its sample. After a reset that was killed, only another reset does. */
export const lacksSample = (sandbox: Sandbox): sandbox is Sandbox & { readonly unseeded: string } =>
  sandbox.unseeded !== undefined && !sandbox.unseeded.startsWith(EMPTYING);

/** How many characters of its owner's name a sandbox's default name begins with: a name has at most 200. */
const OWNER_SHOWN = 190;

/** The organisation already has a sandbox, or is one itself. */
export class SandboxRefused extends Error {
  override readonly name = 'SandboxRefused';
}

/** `now` is the database's time. */
export function createSandboxes(models: ControlModels, place: Place, now: () => number) {
  const { organisations } = models;

  /** Requires that an organisation can get a sandbox. @throws SandboxRefused */
  async function requireNone({ id, sandbox_of }: Organisation, session: ClientSession | null = null): Promise<void> {
    if (sandbox_of !== undefined)
      throw new SandboxRefused(`${id} is a sandbox itself; name the organisation that it belongs to`);
    const other = await organisations.findOne({ sandbox_of: id }, { _id: 1 }).session(session).lean();
    if (other) throw new SandboxRefused(`organisation ${id} has a sandbox already: ${other._id}`);
  }

  async function mark(filter: object, unseeded: string): Promise<Sandbox | undefined> {
    const row = await organisations
      .findOneAndUpdate(filter, { $set: { unseeded } }, { returnDocument: 'after' })
      .lean();
    return row ? toSandbox(row) : undefined;
  }

  async function of(id: string): Promise<Sandbox | undefined> {
    const row = await organisations.findOne({ sandbox_of: id, state: CHANGEABLE }).lean();
    return row ? toSandbox(row) : undefined;
  }

  /** Undefined if there is no such organisation, or it is being erased. @throws SandboxRefused, ShardRefused */
  async function create({ of, shard, willBeSeeded, ...input }: NewSandbox, actor: Actor): Promise<Sandbox | undefined> {
    const _id = randomUUID();
    // asked before the transaction, too: the database that is placed on a shard stays if that refuses (docs/decisions/shards.md)
    const row = await organisations.findOne({ _id: of, state: CHANGEABLE }).lean();
    if (!row) return undefined;
    await requireNone(toOrganisation(row));
    await place(_id, shard);
    return models.change(async (session, record) => {
      // writes the owner's row, so that of two creations, or a creation and a change of plan, the later sees the earlier
      const owner = await holdOrganisation(models, of, session);
      if (!owner) return undefined;
      await requireNone(owner, session);
      const { plan, currency, state } = owner;
      const { name = `${Array.from(owner.name).slice(0, OWNER_SHOWN).join('')} sandbox` } = input;
      const members = { name, plan, currency, sandbox_of: of };
      const document: OrganisationDocument = {
        _id,
        ...members,
        state,
        ...FOR_EARLIER_VERSIONS,
        created_at: new Date(now()),
        ...(willBeSeeded && { unseeded: randomUUID() }),
      };
      await organisations.create([document], { session });
      await record(actor, 'organisation.created', _id, { ...members, ...(shard !== undefined && { shard }) });
      await record(actor, 'sandbox.created', of, { sandbox: _id, name });
      return toSandbox(document);
    });
  }

  return {
    /** The sandbox of an organisation, unless it is being erased. */
    of,
    /** The sandboxes of an organisation, including any being erased. */
    async allOf(id: string): Promise<Organisation[]> {
      return (await organisations.find({ sandbox_of: id }).lean()).map(toOrganisation);
    },
    create,
    /** A sandbox, or the demo, if its sample is not complete. */
    async unseeded(id: string): Promise<Sandbox | undefined> {
      const row = await organisations.findOne({ _id: id, unseeded: trusted({ $exists: true }) }).lean();
      return row ? toSandbox(row) : undefined;
    },
    /**
     * The sandbox of an organisation, created to be seeded unless there is one. Concurrent calls create only one. Undefined as {@link create}.
     * @throws SandboxRefused if it is a sandbox itself, or its former one is being erased; ShardRefused
     */
    async createOnce(id: string, actor: Actor): Promise<{ sandbox: Sandbox; isNew: boolean } | undefined> {
      const existing = await of(id);
      if (existing) return { sandbox: existing, isNew: false };
      try {
        const sandbox = await create({ of: id, willBeSeeded: true }, actor);
        return sandbox && { sandbox, isNew: true };
      } catch (error) {
        // another call may have created it meanwhile
        const rival = error instanceof SandboxRefused ? await of(id) : undefined;
        if (rival) return { sandbox: rival, isNew: false };
        throw error;
      }
    },
    /** Marks a sandbox as being emptied. Undefined if it is gone. */
    noteEmptying: (id: string): Promise<Sandbox | undefined> => mark({ _id: id }, EMPTYING + randomUUID()),
    /** Marks it as emptied, with the sample to be stored, unless another reset has begun meanwhile. */
    async noteEmptied(sandbox: Sandbox): Promise<Sandbox> {
      const { organisation, unseeded } = sandbox;
      return (await mark({ _id: organisation.id, unseeded }, randomUUID())) ?? sandbox;
    },
    /** Marks the sample as complete, unless the sandbox was being emptied: if that was interrupted, it has to be done again. */
    async noteSeeded(sandbox: Sandbox): Promise<void> {
      if (!lacksSample(sandbox)) return;
      const { organisation, unseeded } = sandbox;
      await organisations.updateOne({ _id: organisation.id, unseeded }, { $unset: { unseeded: 1 } });
    },
  };
}

function toSandbox(row: OrganisationDocument): Sandbox {
  return { organisation: forOperators(row), unseeded: row.unseeded };
}
