/** Which server is used: the caller's own, or one started by this process. */
type DatabaseKind = 'uri' | 'binary' | 'memory-server' | 'secantusdb';

/** A server that Scopegate starts itself. */
export type LocalKind = Exclude<DatabaseKind, 'uri'>;

/** The program of a local kind; one program cannot read another's data. */
export type ServerProgram = 'mongod' | 'secantusd-rs' | 'secantusd-py';

export interface EmbeddedOptions {
  /** MONGODB_URI: takes precedence and is used as is. */
  readonly mongodbUri?: string;
  /** MONGOD_BINARY: a path, or a name to look up on `path`. */
  readonly mongodBinary?: string;
  /** Data, logs, the lock and the remembered choice; kept across restarts. */
  readonly dataDir: string;
  /** Downloads and installations; can be deleted while nothing is running. */
  readonly cacheDir: string;
  /** PATH, where binaries and Python are looked up. */
  readonly path: string;
  /** HTTPS_PROXY: if set, contacted instead of the download host. */
  readonly proxy?: string;
  /** Called with one line of plain text for the user. */
  readonly report: (line: string) => void;
  /** Cancels waiting, downloading and starting. */
  readonly signal?: AbortSignal;
}

/** A running database. Only the process that started a server stops it. */
export interface Database {
  readonly uri: string;
  readonly kind: DatabaseKind;
  readonly description: string;
  stop(): Promise<void>;
}

/** The port and files of a server. */
export interface Place {
  readonly port: number;
  readonly storagePath: string;
  /** An empty configuration file. */
  readonly configFile: string;
}

/** Everything needed to start one server. */
export interface ServerPlan {
  readonly kind: LocalKind;
  readonly program: ServerProgram;
  readonly version: string;
  /** Human-readable, for example "SecantusDB 0.7.0b3 (MongoDB-compatible, from PyPI)". */
  readonly title: string;
  readonly command: string;
  /** Folder in dataDir; its log is next to it as `<storage>.log`. */
  readonly storage: string;
  readonly replicaSet: string;
  readonly args: (place: Place) => string[];
}

/** The last choice, so that data created with one server is not abandoned for another. */
export interface Remembered {
  readonly kind: LocalKind;
  readonly program: ServerProgram;
  readonly version: string;
  readonly command: string;
  readonly storage: string;
  /** Reused if free: a replica set identifies its member by address, and so do clients that reconnect. */
  readonly port: number;
}

/** A link's server to start, or one line about why it has none. */
export type Offer =
  { readonly found: true; readonly plan: ServerPlan } | { readonly found: false; readonly reason: string };

/** One way to get a server; links are tried in order. */
export interface Link {
  readonly kind: LocalKind;
  readonly title: string;
  offer(options: EmbeddedOptions, remembered: Remembered | undefined): Promise<Offer>;
}

/** A started server. `lost` settles if it stops unexpectedly. */
export interface RunningServer {
  readonly uri: string;
  readonly pid: number;
  readonly port: number;
  readonly lost: Promise<string>;
  stop(): Promise<void>;
}

/** Starts a link's server. @throws StartFailure if it does not start */
export type StartServer = (
  plan: ServerPlan,
  options: EmbeddedOptions,
  preferredPort: number | undefined,
) => Promise<RunningServer>;

/** The parts of the chain, replaceable so that the choice can be tested without servers. */
export interface Chain {
  readonly links: readonly Link[];
  readonly start: StartServer;
}
