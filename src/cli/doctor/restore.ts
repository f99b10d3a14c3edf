import { GATEWAY, readTail } from '../../events/tail/lease';
import { DAY } from '../../units';
import type { Check, DoctorContext } from './check';

/** How long doctor warns of a restore that a gateway noticed, in milliseconds. */
const RESTORE_SHOWN = 7 * DAY;

/** A warning if a gateway noticed in the last days that the database was restored from a backup, until somebody runs `restored`. */
export async function checkRestored({ store: { databases } }: DoctorContext): Promise<Check | undefined> {
  // that it cannot be read is said by the check of events
  const { restored } = (await readTail(databases).catch(() => undefined)) ?? {};
  if (restored?.by !== GATEWAY || restored.at.getTime() < databases.now() - RESTORE_SHOWN) return undefined;
  const since = restored.since.toISOString();
  return {
    name: 'restore',
    ok: true,
    detail: `a gateway noticed at ${restored.at.toISOString()} that the database was restored to about ${since}; organisations get feed.gap`,
    fix: `run scopegate restored --since ${since} --replay LOG with the gateways' log from then on, or what was revoked since works again (docs/guides/operators.md, After a restore); without --replay it only ends this warning`,
  };
}
