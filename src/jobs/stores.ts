import type { Databases } from '../database/connect';
import type { Control } from '../organisations/control';

/** What jobs work on; changes to the control data are recorded as made by whoever asked for the job. */
export interface Stores {
  readonly databases: Databases;
  readonly control: Control;
}
