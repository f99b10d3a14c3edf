import type { mongo } from 'mongoose';
import { AppError } from '../errors';
import { MINUTE } from '../units';
import type { Collection } from '../mongo/collection';
import { isRefusedRow } from '../mongo/faults';
import type { TenantContext } from './tenantContext';
import { validationOptions, validatorState, widenValidator } from '../mongo/validators';

/*
 * A write of a new version that a validator of an earlier one refuses: the validator is widened, so that it allows what either version writes,
 * and the write is done again (docs/decisions/stored-validation.md).
 */

/** How long no other attempt is made for a collection, in milliseconds: each costs commands, and without the privilege the next fails, too. */
const REMEMBERED_FOR = MINUTE;

/** What came of widening a validator. */
interface Outcome {
  /** What the error says of the validator if the write is refused all the same. */
  readonly why: string;
  /** Whether the validator may allow the refused write now. */
  readonly allowsMore: boolean;
}

export type Widening = ReturnType<typeof createWidening>;

/** `whileWritable` runs a change of the database unless the organisation is being moved or erased: see OrganisationData.whileWritable. */
export function createWidening(
  organisationId: string,
  database: mongo.Db,
  context: Pick<TenantContext, 'validation' | 'onWidened'>,
  whileWritable: (work: () => Promise<boolean>) => Promise<boolean>,
) {
  /** By collection; `at` is by performance.now(). */
  const attempts = new Map<string, { readonly at: number; readonly outcome: Promise<Outcome> }>();

  async function widen(definition: Collection): Promise<Outcome> {
    const { validation } = context;
    try {
      const options = (await validationOptions(database)).get(definition.name) ?? {};
      if (validatorState(definition, options, validation) === 'foreign')
        return { why: "is another program's", allowsMore: false };
      if (!(await whileWritable(() => widenValidator(database, definition, options, validation))))
        // another gateway may have widened it since the write was refused
        return { why: 'allows what this version writes', allowsMore: true };
      context.onWidened(organisationId, definition.name);
      return { why: 'was widened', allowsMore: true };
    } catch (error) {
      // the organisation is being moved or erased: its caller is told when to retry
      if (error instanceof AppError) throw error;
      const why = `could not be changed (${error instanceof Error ? error.message : String(error)})`;
      return { why, allowsMore: false };
    }
  }

  /** Widens a validator, unless a write of the last minute did: then resolves with what came of that. */
  function widenOnce(definition: Collection): Promise<Outcome> {
    const { name } = definition;
    const now = performance.now();
    const attempt = attempts.get(name);
    if (attempt && now < attempt.at + REMEMBERED_FOR) return attempt.outcome;
    const outcome = widen(definition);
    attempts.set(name, { at: now, outcome });
    outcome.catch(() => attempts.delete(name));
    return outcome;
  }

  return {
    /** Runs a transaction that writes these collections, and once more if a validator that refused it allows more now. @throws Error that says what to do if not */
    async runWidening<T>(definitions: readonly Collection[], run: () => Promise<T>): Promise<T> {
      try {
        return await run();
      } catch (error) {
        if (!isRefusedRow(error)) throw error;
        const checked = definitions.filter(({ schema }) => schema !== undefined);
        const outcomes = await Promise.all(checked.map(widenOnce));
        if (!outcomes.some(({ allowsMore }) => allowsMore)) throw validatorRefusal(checked, outcomes, error);
        return run().catch((again: unknown) => {
          throw isRefusedRow(again) ? validatorRefusal(checked, outcomes, again) : again;
        });
      }
    },
  };
}

function validatorRefusal(definitions: readonly Collection[], outcomes: readonly Outcome[], error: unknown): Error {
  const why = definitions.map(({ name }, at) => `${name}: ${outcomes[at]?.why ?? ''}`).join('; ');
  const message = `MongoDB's validator refused a row: run scopegate doctor --fix; that of ${why} (${String(error)})`;
  return new Error(message, { cause: error });
}
