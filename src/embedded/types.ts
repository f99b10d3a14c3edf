import * as z from 'zod';
import type { Config } from '../config';

/** No database can be started; the message is complete and meant for the user. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** A server cannot be used, or did not start; the message says why, and the next one is tried. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** MONGODB_URI takes precedence, then MONGOD_BINARY. CACHE_DIR holds what is downloaded; it can be deleted while nothing runs. */
export type EmbeddedOptions = Pick<Config, 'CACHE_DIR' | 'DATA_DIR'> &
  Partial<Pick<Config, 'MONGOD_BINARY' | 'MONGODB_URI'>> & {
    /** How many entries SecantusDB keeps in its log. */
    readonly logEntries?: number;
    /** Called with one line of plain text for the user. */
    readonly report: (line: string) => void;
    /** Cancels waiting, downloading and starting. */
    readonly signal?: AbortSignal | undefined;
  };

const pid = z.number().int().positive();

/** The server of a data folder, in its database.json. */
export const recordShape = z.object({
  kind: z.enum(['binary', 'memory-server', 'secantusdb']),
  /** One program cannot read another's data. */
  program: z.enum(['mongod', 'secantusd-rs', 'secantusd-py']),
  version: z.string(),
  /** Its path, or its name in PATH; of secantusd-py that of the Python which has it installed. */
  command: z.string(),
  /** Folder in DATA_DIR; its log is next to it as `<storage>.log`. */
  storage: z.string(),
  /** Reused if free: a replica set identifies its member by address, and so do clients that reconnect. */
  port: z.number().int(),
  /** While the server runs. Whoever started it stops it; without `ownerPid`, it is stopping. */
  running: z.object({ serverPid: pid, ownerPid: pid.optional() }).optional(),
});
export type ServerRecord = z.infer<typeof recordShape>;
/** A server that can be started. */
export type Program = Omit<ServerRecord, 'port' | 'running'>;

/** A running database. */
export interface Database {
  readonly uri: string;
  readonly kind: Program['kind'] | 'uri';
  readonly description: string;
  /** Whether it is known to be SecantusDB instead of MongoDB. */
  readonly isStandIn: boolean;
  stop(): Promise<void>;
}

/** One way to get a server. */
export interface Candidate {
  readonly kind: Program['kind'];
  readonly title: string;
  /**
   * Resolves with a program that works; `record` is that which created the data, if there are any. Its kind is then this candidate's, as no other
   * is asked (startOne). @throws Unusable that says why there is none
   */
  find(options: EmbeddedOptions, record: ServerRecord | undefined): Promise<Program>;
}
