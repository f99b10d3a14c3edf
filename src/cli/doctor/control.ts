import type { Connection } from 'mongoose';
import { createIndexes, differenceOf } from '../../mongo/indexes';
import { databaseOf, PATIENT } from '../../mongo/native';
import { CONTROL_SCHEMA, raiseSchema, readSchema } from '../../organisations/controlSchema';
import { controlCollections } from '../../organisations/models';
import { listed } from '../terminal';
import { type Check, type CheckResult, type DoctorContext, examine } from './check';

/* Checks of the control database: its indexes, and which versions may start on it. */

/** Whether the control database has its indexes; `fix` creates those that are missing, but not in one that is mistyped. */
export function checkControl({ store: { databases }, fix, controlsMeant }: DoctorContext): Promise<Check> {
  const { control } = databases;
  return examine('control database', 'run scopegate doctor --fix', async () => {
    const schema = await readSchema(control);
    const missing = schema ? await missingIndexes(control, fix && controlsMeant.length === 0) : [];
    const lacks = `lacks ${missing.join(', ')}`;
    const lacksForNow = `${lacks}, which the first gateway or command of this version creates`;
    if (controlsMeant.length > 0)
      return mistyped(control.name, controlsMeant, missing.length > 0 ? `; it ${lacksForNow}` : '');
    if (!schema) return `${control.name} is new: the first gateway or command creates its collections`;
    if (missing.length === 0) return `${control.name} has every index`;
    if (fix) return `created ${missing.join(', ')}`;
    if (!schema.hasIndexes) return `${control.name} ${lacksForNow}`;
    throw new Error(`${control.name} ${lacks}`);
  });
}

/** What the collections lack of their indexes, `collection: name`; `fix` creates them. */
async function missingIndexes(control: Connection, fix: boolean): Promise<string[]> {
  const names: string[] = [];
  for (const definition of controlCollections) {
    // false: it needs all indexes at once, not only those of small collections
    const { missing } = await differenceOf(databaseOf(control), definition, false);
    if (missing.length > 0 && fix) await createIndexes(databaseOf(control), definition, missing, PATIENT);
    names.push(...missing.map(({ name }) => `${definition.name}: ${name}`));
  }
  return names;
}

/** A warning: the control database is empty beside one with organisations. `more` ends the sentence. */
function mistyped(name: string, meant: readonly string[], more: string): CheckResult {
  const [likely = ''] = meant;
  return {
    detail: `${name} has no organisation, and ${listed(meant)} on the same servers ${meant.length === 1 ? 'has' : 'have'} some${more}`,
    fix: `set CONTROL_DATABASE=${likely}, unless ${name} is meant to be a new one`,
  };
}

/** Which versions may start on the control database. `fix` keeps those that are older than this one from it, unless the database is mistyped. */
export function checkSchema({ store: { databases }, controlsMeant, ...context }: DoctorContext): Promise<Check> {
  const { control } = databases;
  const own = String(CONTROL_SCHEMA);
  return examine('control schema', 'correct what the error names, then run scopegate doctor --fix again', async () => {
    const fix = context.fix && controlsMeant.length === 0;
    const version = fix ? await raiseSchema(control, controlCollections) : (await readSchema(control))?.version;
    if (version === undefined || version === CONTROL_SCHEMA) return own;
    const former = String(version);
    if (fix) return `raised from ${former} to ${own}: versions whose own is lower no longer start`;
    return {
      detail: `${former}, so versions whose own is ${former} can still start; that of this version is ${own}`,
      fix: `once all gateways have this version and you will not go back, run scopegate doctor --fix: it drops what only versions below ${own} need, and they no longer start`,
    };
  });
}
