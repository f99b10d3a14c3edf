/** Which server answers: the caller's own, or one that this process started. */
type DatabaseKind = 'uri' | 'binary' | 'memory-server' | 'secantusdb';

/** A server that Scopegate starts itself. */
export type LocalKind = Exclude<DatabaseKind, 'uri'>;

/** The program behind a local kind; data made by one are not readable by another. */
export type ServerProgram = 'mongod' | 'secantusd-rs' | 'secantusd-py';

export interface EmbeddedOptions {
  /** MONGODB_URI: wins over everything and is used as it is. */
  readonly mongodbUri?: string;
  /** MONGOD_BINARY: a path, or a name to look up on `path`. */
  readonly mongodBinary?: string;
  /** Data, logs, the lock and the remembered choice; outlives a restart. */
  readonly dataDir: string;
  /** Downloads and installations; may be deleted at any time when nothing runs. */
  readonly cacheDir: string;
  /** PATH, where binaries and Python are looked up. */
  readonly path: string;
  /** HTTPS_PROXY, asked instead of the download host when it is set. */
  readonly proxy?: string;
  /** Takes one plain line for the user at a time. */
  readonly report: (line: string) => void;
  /** Gives up waiting, downloading and starting. */
  readonly signal?: AbortSignal;
}

/** A database that answers. Only the process that started a server stops it. */
export interface Database {
  readonly uri: string;
  readonly kind: DatabaseKind;
  readonly description: string;
  stop(): Promise<void>;
}

/** Where one start of a server takes place. */
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
  /** For people, for example "SecantusDB 0.7.0b3 (MongoDB-compatible, from PyPI)". */
  readonly title: string;
  readonly command: string;
  /** Folder under dataDir; the log lies beside it as `<storage>.log`. */
  readonly storage: string;
  readonly replicaSet: string;
  readonly args: (place: Place) => string[];
}

/** What was chosen last time, so that data made with one server are not left behind for another. */
export interface Remembered {
  readonly kind: LocalKind;
  readonly program: ServerProgram;
  readonly version: string;
  readonly command: string;
  readonly storage: string;
  /** Taken again when it is free: a replica set knows its member by address, and so do clients that reconnect. */
  readonly port: number;
}

/** A link of the chain either has something to start or says in one line why not. */
export type Offer =
  { readonly found: true; readonly plan: ServerPlan } | { readonly found: false; readonly reason: string };

/** One way to a server; links are tried in order. */
export interface Link {
  readonly kind: LocalKind;
  readonly title: string;
  offer(options: EmbeddedOptions, remembered: Remembered | undefined): Promise<Offer>;
}

/** A started server. `lost` settles when it ends without having been asked to. */
export interface RunningServer {
  readonly uri: string;
  readonly pid: number;
  readonly port: number;
  readonly lost: Promise<string>;
  stop(): Promise<void>;
}

/** Starts what a link offered; throws `StartFailure` when it does not come up. */
export type StartServer = (
  plan: ServerPlan,
  options: EmbeddedOptions,
  preferredPort: number | undefined,
) => Promise<RunningServer>;

/** The chain's parts, exchangeable so that the choice can be tested without servers. */
export interface Chain {
  readonly links: readonly Link[];
  readonly start: StartServer;
}
