import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';
import type { Progress } from '../common/progress';

/** What became of a file's lines. */
export interface FileReport {
  /** Lines that were not blank. */
  read: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
}

/** One thing wrong with one line. */
export interface LineFault extends Fault {
  /** The file's path, as the caller named it. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** Where an import goes, and who hears of it. */
export interface ImportTarget {
  readonly data: OrganisationData;
  /** Told of every fault, in the order of files and lines. */
  readonly onFault: (fault: LineFault) => void;
  readonly progress: Progress;
  /** Ends the import after the batch that is being stored. */
  readonly signal?: AbortSignal | undefined;
}
