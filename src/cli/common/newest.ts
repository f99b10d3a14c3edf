import { say } from './terminal';

/** The first rows, up to `limit`, of those read with a limit of one more; says on stderr if that leaves some out. */
export function newest<Row>(rows: readonly Row[], limit: number): readonly Row[] {
  if (rows.length > limit) say(`Only the newest ${String(limit)} are shown; there are more: see --limit`);
  return rows.slice(0, limit);
}
