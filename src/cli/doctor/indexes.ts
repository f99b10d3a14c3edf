import type { Organisation } from '../../access/principal';
import { messageOf } from '../common/failure';
import type { Store } from '../common/open';
import { createProgress } from '../common/progress';
import type { Check } from './check';

/** Whether every organisation has every index; `fix` creates missing ones. Complete organisations share one line. */
export async function* checkIndexes({ control, databases }: Store, fix: boolean): AsyncGenerator<Check> {
  const organisations = await control.organisations.list();
  const progress = createProgress('organisations');
  const found: Check[] = [];
  progress.start('indexes', organisations.length);
  for (const [at, organisation] of organisations.entries()) {
    const check = await checkOrganisation(organisation, databases.organisationData, fix);
    if (check) found.push(check);
    progress.update(at + 1, at + 1);
  }
  progress.stop();
  yield* found;
  const whole = organisations.length - found.length;
  const noun = whole === 1 ? 'organisation has' : 'organisations have';
  yield { name: 'indexes', ok: true, detail: `${String(whole)} ${noun} every index` };
}

/** The check of one organisation; undefined if nothing is missing. */
async function checkOrganisation(
  organisation: Organisation,
  dataOf: Store['databases']['organisationData'],
  fix: boolean,
): Promise<Check | undefined> {
  const name = `indexes of ${organisation.name} (${organisation.id})`;
  try {
    const data = dataOf(organisation);
    const missing = await data.missingIndexes();
    if (missing.length === 0) return undefined;
    if (!fix) return { name, ok: false, detail: `missing ${missing.join(', ')}`, fix: 'run scopegate doctor --fix' };
    await data.createIndexes();
    const still = await data.missingIndexes();
    if (still.length === 0) return { name, ok: true, detail: `created ${missing.join(', ')}` };
    return {
      name,
      ok: false,
      detail: `still missing ${still.join(', ')}`,
      fix: 'give the database user permission to create indexes',
    };
  } catch (error) {
    return {
      name,
      ok: false,
      detail: messageOf(error),
      fix: 'fix the cause, then run scopegate doctor --fix',
    };
  }
}
