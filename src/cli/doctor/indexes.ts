import type { Store } from '../common/open';
import { createProgress } from '../common/progress';
import { type Check, examine, Finding } from './check';

/** Whether every organisation has every index; `fix` creates missing ones. Complete organisations share one line. */
export async function* checkIndexes({ control, databases }: Store, fix: boolean): AsyncGenerator<Check> {
  const organisations = await control.organisations.list();
  const progress = createProgress('organisations');
  const found: Check[] = [];
  progress.start('indexes', organisations.length);
  for (const [at, organisation] of organisations.entries()) {
    const name = `indexes of ${organisation.name} (${organisation.id})`;
    const check = await examine(name, 'fix the cause, then run scopegate doctor --fix', async () => {
      const data = databases.organisationData(organisation);
      const missing = await data.missingIndexes();
      if (missing.length === 0) return '';
      if (!fix) throw new Finding(`missing ${missing.join(', ')}`, 'run scopegate doctor --fix');
      await data.createIndexes();
      const still = await data.missingIndexes();
      if (still.length === 0) return `created ${missing.join(', ')}`;
      throw new Finding(`still missing ${still.join(', ')}`, 'give the database user permission to create indexes');
    });
    if (check.detail !== '') found.push(check);
    progress.update(at + 1, at + 1);
  }
  progress.stop();
  yield* found;
  const whole = organisations.length - found.length;
  const noun = whole === 1 ? 'organisation has' : 'organisations have';
  yield { name: 'indexes', ok: true, detail: `${String(whole)} ${noun} every index` };
}
