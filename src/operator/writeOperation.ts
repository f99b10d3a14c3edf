import { createIdempotentWrite } from '../tenant/idempotency';
import { checkIdempotencyKey } from '../errors/idempotencyKey';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import type { UnitOfWork } from '../tenant/unitOfWork';
import type { Writer as DataWriter } from '../tenant/slots';
import { AppError, type FaultLimits, type Findings } from '../errors';
import type { CallContext } from '../operations/context';
import type { Actor } from '../organisations/auditEvents';
import type { Control } from '../organisations/control';
import type { Attempt } from '../organisations/creations';
import type { OrganisationForOperators } from '../organisations/organisationRows';
import { type Kinds, writeElements, type WriteReport } from '../writes';
import { ELEMENTS_PER_POINT } from '../units';
import { beingErased } from '../admin/refusals';

/* Writes of operators to the data of organisations, with their audit events (docs/decisions/operator-writes.md). */

export interface WriteServices {
  readonly organisationData: OrganisationDataCache;
  readonly control: Pick<Control, 'as'>;
  /** How each kind of object is written. */
  readonly kinds: () => Kinds;
  /** The faults of an element's types, as far as there is room for them. */
  readonly checkElement: (element: unknown, room?: FaultLimits) => Findings;
  /** Checks a request before it reads an organisation's data. @throws AppError unavailable */
  readonly admit: (organisation: Pick<OrganisationForOperators, 'id'>) => void;
  /** Called with the members of an audit event that could not be recorded, although its objects were written. */
  readonly onUnrecorded: (event: UnrecordedEvent, error: unknown) => void;
}

interface UnrecordedEvent {
  readonly action: 'objects.written';
  readonly organisation_id: string;
  readonly actor: string;
  readonly details: Readonly<Record<string, number>>;
}

export type WriteContext = Pick<CallContext, 'charge' | 'holdRows' | 'takeTurn'>;

export interface WriteArguments {
  readonly id: string;
  readonly writes: readonly unknown[];
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

interface WriteRequest {
  readonly actor: Actor;
  readonly attempt: Attempt | undefined;
  /** @throws AppError not_found; conflict if it is being erased */
  readonly requireOpen: (id: string) => Promise<OrganisationForOperators>;
  /** The organisations that exist, by their names as given. */
  readonly findAll: (names: readonly string[]) => Promise<Map<string, OrganisationForOperators>>;
}

export function createWriteOperation(
  { organisationData, control, kinds, admit, checkElement, onUnrecorded }: WriteServices,
  { actor, attempt, requireOpen, findAll }: WriteRequest,
) {
  // every actor here is `operator:` and the name of a token
  const writer = actor.who as DataWriter;

  /** What a write to an organisation needs, by default neither atomic nor a dry run. @throws AppError unavailable if its data cannot be written now */
  function open(organisation: OrganisationForOperators, { holdRows }: WriteContext) {
    admit(organisation);
    const data = organisationData(organisation);
    return {
      organisation,
      data,
      by: writer,
      check: checkElement,
      kinds: kinds(),
      holdRows,
      isAtomic: false,
      dryRun: false,
    };
  }

  /**
   * Records what was written to an organisation, unless that is nothing. A failure is logged, but the call succeeds: the objects are stored, in another
   * database, and a repeat of the call would change and record nothing.
   */
  async function recordWritten(
    { id }: Pick<OrganisationForOperators, 'id'>,
    { created, updated, deleted }: Counts,
  ): Promise<void> {
    const counts = Object.entries({ created, updated, deleted }).filter(([, count]) => count > 0);
    if (counts.length === 0) return;
    const action = 'objects.written';
    const details = Object.fromEntries(counts);
    try {
      await control.as(actor).record(action, id, details);
    } catch (error) {
      onUnrecorded({ action, organisation_id: id, actor: actor.who, details }, error);
    }
  }

  return {
    /** Writes to one organisation; an `attempt` that succeeded before gets its report again, and writes nothing. */
    async write({ id, writes, ...args }: WriteArguments, context: WriteContext): Promise<WriteReport> {
      const opened = open(await requireOpen(id), context);
      const call = { ...opened, isAtomic: args.atomic === true, dryRun: args.dry_run === true };
      const placeOf = (index: number): string => `/writes/${String(index)}`;
      // an object, as the compiler takes a variable that only the callback sets for false
      const replay = { isDone: false };
      let unitOfWork: UnitOfWork | undefined;
      if (attempt) {
        const request = { operation: 'write', args: { ...args, writes } };
        const onReplay = (): void => {
          replay.isDone = true;
          attempt.onReplay();
        };
        const idempotencyKey = checkIdempotencyKey(attempt.idempotencyKey);
        const idempotent = await createIdempotentWrite(call.data, {
          ...request,
          idempotencyKey,
          keyId: actor.who,
          by: writer,
          onReplay,
        });
        const answered = await idempotent.replay();
        if (answered) return answered.answer as WriteReport;
        ({ write: unitOfWork } = idempotent);
      }
      // the first point was charged with the request, and is all that an answer from before costs
      const more = Math.ceil(writes.length / ELEMENTS_PER_POINT) - 1;
      if (more > 0) {
        await context.charge(more);
        await context.takeTurn?.();
      }
      const report = await writeElements(writes, placeOf, { ...call, write: unitOfWork }).catch(rethrowErased);
      if (!call.dryRun && !replay.isDone) await recordWritten(call.organisation, report);
      return report;
    },
    /** For lines of many organisations (writeLines.ts), which records what it has written to each once, at its end. */
    lines: {
      findAll,
      async write(
        organisation: OrganisationForOperators,
        writes: readonly unknown[],
        context: WriteContext,
      ): Promise<WriteReport> {
        if (organisation.state === 'erasing') throw beingErased();
        // pointers to faults begin at the line
        return writeElements(writes, () => '', open(organisation, context)).catch(rethrowErased);
      },
      note: recordWritten,
    },
  };
}

export type Counts = Pick<WriteReport, 'created' | 'updated' | 'deleted'>;

/** @throws AppError conflict if the erasure of the organisation began meanwhile; any other error unchanged */
function rethrowErased(error: unknown): never {
  throw error instanceof AppError && error.extras.reason === 'erased' ? beingErased() : error;
}
