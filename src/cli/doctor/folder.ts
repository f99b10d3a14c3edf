import { ownFolder } from '../../sdl/folder';
import { addedNames, LACKING, MOST } from '../ownNames';
import { listed } from '../terminal';
import { type Check, type DoctorContext, examine } from './check';

/** The check of the folder; undefined if nobody has one. `fix` records the folder of this process instead of all before. */
export function checkFolder({ store: { control, lacking }, fix }: DoctorContext): Promise<Check | undefined> {
  const names = addedNames();
  if (names.length + lacking.length === 0) return Promise.resolve(undefined);
  return examine('schema', 'look at the control database', async () => {
    if (fix) await control.recordAdded(names, true);
    const has = names.length === 0 ? 'no folder' : `${String(ownFolder())} adds ${listed(names, MOST)}`;
    if (lacking.length === 0) return has;
    if (fix) return `${has}; no longer expected: ${listed(lacking, MOST)}`;
    return { detail: `${has}, and lacks ${listed(lacking, MOST)}, with which this database is served`, fix: LACKING };
  });
}
