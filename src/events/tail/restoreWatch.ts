import type { Logger } from 'pino';
import { MINUTE, SECOND } from '../../units';
import { timeDigits } from '../position';
import { EVER } from './changes';
import { GATEWAY, type TailLease, type TailRow } from './lease';

/*
 * How a gateway notices that the database was restored from a backup: the tail's row only moves forward, so one that is behind what was seen
 * is of an earlier state (docs/decisions/restore.md).
 */

/** If nobody recorded events for this long, in milliseconds, the database may have been restored. */
const AWAY = 5 * MINUTE;

type Seen = Pick<TailRow, 'generation' | 'at' | 'restored'>;

const digitsOf = ({ at }: Seen): string => (at ? timeDigits(at) : '');

/** The time up to which events are recorded, in milliseconds since 1970; undefined before the first. */
const timeOf = ({ at }: Seen): number | undefined => (at ? at.t * SECOND : undefined);

/** Whether somebody else has noticed a restore since a row was seen. */
const isNoticed = (row: Seen, { restored }: Seen): boolean =>
  row.restored !== undefined && row.restored.at.getTime() > (restored?.at.getTime() ?? 0);

interface Options {
  readonly now: () => number;
  /** Called if the database was restored. */
  readonly onRestored: () => void;
  readonly logger: Logger;
}

export function createRestoreWatch({ now, onRestored, logger }: Options) {
  /** The latest row that this gateway knows of. */
  let seen: Seen | undefined;

  /** Remembers a row that a majority has stored, unless it is behind the one that is remembered. */
  const note = (row: TailRow): void => {
    const isBehind = seen && (row.generation < seen.generation || digitsOf(row) < digitsOf(seen));
    if (!seen || !isBehind || isNoticed(row, seen)) seen = row;
  };

  /** Whether a row whose lease was just taken cannot follow from the one that was seen: taking it has raised its generation. */
  function contradicts(taken: Seen): boolean {
    if (!seen || isNoticed(taken, seen)) return false;
    return taken.generation <= seen.generation || digitsOf(taken) < digitsOf(seen);
  }

  /** Says which command to run, since a gateway that has seen no row cannot tell a restore from a long pause. */
  function noteFirst(row: TailRow): void {
    const until = timeOf(row);
    if (until === undefined || until > now() - AWAY) return;
    const message =
      'no events were recorded for a while; if the database was restored from a backup meanwhile, run scopegate restored';
    logger.warn({ recorded_until: new Date(until) }, message);
  }

  return {
    note,
    /** Notes a restore in the row of a lease that was just taken, if that is behind what was seen. Resolves with the row. */
    async check(lease: TailLease): Promise<TailRow> {
      const { row } = lease;
      if (!contradicts(row)) {
        if (!seen) noteFirst(row);
        note(row);
        return row;
      }
      // a row without a time is of before anything was recorded
      const since = new Date(timeOf(row) ?? EVER);
      const noted = await lease.renew({ restored: { since, at: new Date(now()), by: GATEWAY, told: false } });
      if (!noted) return row;
      seen = noted;
      logger.error({ since }, 'the database was restored from a backup; organisations get a gap event');
      onRestored();
      return noted;
    },
  };
}
