import { z } from 'zod';
import type { Config } from '../../config';
import type { GuardedProcess } from './process';

/** No database can be started; the message is complete and meant for the user. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** A server cannot be used, or did not start; the message says why, and the next one is tried. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}

/** MONGODB_URI takes precedence, then MONGOD_BINARY. CACHE_DIR holds what is downloaded; it can be deleted while nothing runs. */
export type EmbeddedOptions = Pick<Config, 'CACHE_DIR' | 'DATA_DIR' | 'PATH'> &
  Partial<Pick<Config, 'HTTPS_PROXY' | 'MONGOD_BINARY' | 'MONGODB_URI'>> & {
    /** Called with one line of plain text for the user. */
    readonly report: (line: string) => void;
    /** Cancels waiting, downloading and starting. */
    readonly signal?: AbortSignal | undefined;
  };

/** The servers that Scopegate starts itself. */
export const localKind = z.enum(['binary', 'memory-server', 'secantusdb']);
export type LocalKind = z.infer<typeof localKind>;

export const rememberedShape = z.object({
  kind: localKind,
  /** One program cannot read another's data. */
  program: z.enum(['mongod', 'secantusd-rs', 'secantusd-py']),
  version: z.string(),
  command: z.string(),
  /** Folder in DATA_DIR; its log is next to it as `<storage>.log`. */
  storage: z.string(),
  /** Reused if free: a replica set identifies its member by address, and so do clients that reconnect. */
  port: z.number().int(),
});
/** The server chosen last, remembered so that data created with one server is not abandoned for another. */
export type Remembered = z.infer<typeof rememberedShape>;

/** A running database. Only the process that started a server stops it. */
export interface Database {
  readonly uri: string;
  readonly kind: LocalKind | 'uri';
  readonly description: string;
  stop(): Promise<void>;
}

/** Everything needed to start one server. */
export interface ServerPlan extends Omit<Remembered, 'port'> {
  /** Human-readable, for example "SecantusDB 0.7.0b3 (MongoDB-compatible, from PyPI)". */
  readonly title: string;
  readonly replicaSet: string;
  /** `configFile` is empty. */
  readonly args: (place: { port: number; storagePath: string; configFile: string }) => string[];
}

/** One way to get a server; links are tried in order. */
export interface Link {
  readonly kind: LocalKind;
  readonly title: string;
  /** @throws Unusable with one line about why it has no server */
  offer(options: EmbeddedOptions, remembered: Remembered | undefined): Promise<ServerPlan>;
}

export interface RunningServer extends Omit<GuardedProcess, 'unref'> {
  readonly uri: string;
  readonly port: number;
}

/** The parts of the chain, replaceable so that the choice can be tested without servers. */
export interface Chain {
  readonly links: readonly Link[];
  /** Starts a link's server. @throws Unusable if it does not start */
  start(plan: ServerPlan, options: EmbeddedOptions, preferredPort?: number): Promise<RunningServer>;
}
