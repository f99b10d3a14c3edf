import { timeDigits } from '../position';
import type { TailRow } from './lease';

/*
 * How a gateway notices that the database was restored from a backup: the tail's row only moves forward, so one that is behind what was seen
 * is of an earlier state (docs/decisions/restore.md).
 */

type Seen = Pick<TailRow, 'generation' | 'at' | 'restored'>;

const timeOf = ({ at }: Seen): string => (at ? timeDigits(at) : '');

/** Whether somebody else has noticed a restore since a row was seen. */
const isNoticed = (row: Seen, { restored }: Seen): boolean =>
  row.restored !== undefined && row.restored.at.getTime() > (restored?.at.getTime() ?? 0);

export function createTailMemory() {
  let seen: Seen | undefined;

  return {
    /** Remembers a row that a majority has stored, unless it is behind the one that is remembered. */
    note(row: Seen): void {
      const isBehind = seen && (row.generation < seen.generation || timeOf(row) < timeOf(seen));
      if (!seen || !isBehind || isNoticed(row, seen)) seen = row;
    },
    /** The row that was seen, if one whose lease was just taken cannot follow from it. */
    contradicting(taken: Seen): Seen | undefined {
      if (!seen || isNoticed(taken, seen)) return undefined;
      return taken.generation <= seen.generation || timeOf(taken) < timeOf(seen) ? seen : undefined;
    },
    /** Whether no row was seen yet. */
    isEmpty: (): boolean => seen === undefined,
    /** Begins anew with a row. */
    reset(row: Seen): void {
      seen = row;
    },
  };
}
