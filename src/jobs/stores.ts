import type { Databases } from '../database/connect';
import type { Control } from '../organisations/control';

/** What jobs work on; with the control data as changed by whoever asked for them. */
export interface Stores {
  readonly databases: Databases;
  readonly control: Control;
}

/** Called with what a person who waits for it wants to know. */
export interface Report {
  note(text: string): void;
  warn(text: string): void;
  /** `done` documents out of `total` in a step. */
  progress(step: string, done: number, total: number): void;
  /** The step is over, or has failed. */
  stepEnded(): void;
}
