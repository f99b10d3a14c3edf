import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';
import type { Progress } from '../common/progress';

/** Counts of a file's lines by outcome. */
export interface FileReport {
  /** Non-blank lines. */
  read: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
}

/** One fault in one line. */
export interface LineFault extends Fault {
  /** The file's path, as given by the caller. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** Where an import is stored, and where it reports. */
export interface ImportTarget {
  readonly data: OrganisationData;
  /** Called for every fault, in file and line order. */
  readonly onFault: (fault: LineFault) => void;
  readonly progress: Progress;
  /** Stops the import after the current batch. */
  readonly signal?: AbortSignal | undefined;
}
