import type { Databases } from '../tenant/databases';
import type { Control } from '../organisations/control';

/** What jobs work on; changes to the control data are recorded as made by whoever asked for the job. */
export interface Stores {
  readonly databases: Databases;
  readonly control: Control;
}
