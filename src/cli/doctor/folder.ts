import { ownFolder } from '../../sdl/folder';
import { addedNames, LACKING_FIX, MOST_NAMES } from '../ownNames';
import { listed } from '../terminal';
import { type Check, type DoctorContext, examine } from './check';

/**
 * Whether the folder of SCHEMA_DIR has all that the database was served with; undefined if there never was a folder. `fix` replaces the recorded
 * names with those of this process's folder.
 */
export function checkSchemaFolder({ store: { control, lacking }, fix }: DoctorContext): Promise<Check | undefined> {
  const names = addedNames();
  if (names.length + lacking.length === 0) return Promise.resolve(undefined);
  return examine('schema', 'look at the control database', async () => {
    // true: these names alone
    if (fix) await control.recordAdded(names, true);
    const has = names.length === 0 ? 'no folder' : `${String(ownFolder())} adds ${listed(names, MOST_NAMES)}`;
    if (lacking.length === 0) return has;
    if (fix) return `${has}; no longer expected: ${listed(lacking, MOST_NAMES)}`;
    return {
      detail: `${has}, and lacks ${listed(lacking, MOST_NAMES)}, with which this database is served`,
      fix: LACKING_FIX,
    };
  });
}
