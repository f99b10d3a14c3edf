import type { Databases } from '../database/connect';
import type { Control } from '../organisations/control';

/** What jobs work on; changes to the control data are recorded as made by whoever asked for the job. */
export interface Stores {
  readonly databases: Databases;
  readonly control: Control;
}

/** Reports to the person who waits. */
export interface Report {
  note(text: string): void;
  warn(text: string): void;
  /** `done` documents out of `total` in a step. */
  progress(step: string, done: number, total: number): void;
  /** The step is over, or has failed. */
  stepEnded(): void;
}
