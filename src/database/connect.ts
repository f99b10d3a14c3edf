import mongoose, { type Connection } from 'mongoose';
import { type OrganisationData, type OrganisationDataCache, organisationDataCache } from './organisationData';

// client input never becomes an operator; indexes are made with the organisation, not on each boot
mongoose.set('sanitizeFilter', true);
mongoose.set('strictQuery', 'throw');
mongoose.set('autoIndex', false);
mongoose.set('autoCreate', false);

/** How long a command waits for a server before the caller gets 503, in milliseconds. */
const SERVER_SELECTION_TIMEOUT = 2000;
/** How long an answer may take before its socket is given up, in milliseconds. */
const SOCKET_TIMEOUT = 30_000;

export const DEFAULT_CLUSTER = 'default';

export interface Databases {
  /** Organisations, keys, sessions and the audit log. */
  readonly control: Connection;
  readonly organisationData: OrganisationDataCache;
  /** Names of the clusters that organisations can be placed on. */
  readonly clusters: readonly string[];
  /** @throws when the control database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly uri: string;
  readonly controlDatabase: string;
  /** Further clusters by name. */
  readonly clusters: Readonly<Record<string, string>>;
  /** Collections that every organisation has. */
  readonly collections: OrganisationData['collections'];
}

/** Connects to the control database and every cluster. */
export async function connectDatabases(options: DatabaseOptions): Promise<Databases> {
  const main = connect(options.uri);
  const connections = new Map([[DEFAULT_CLUSTER, main]]);
  for (const [name, uri] of Object.entries(options.clusters)) connections.set(name, connect(uri));
  const close = async (): Promise<void> => {
    await Promise.all([...connections.values()].map((connection) => connection.close()));
  };
  try {
    await Promise.all([...connections.values()].map((connection) => connection.asPromise()));
  } catch (error) {
    await close();
    throw error;
  }
  const control = main.useDb(options.controlDatabase);
  return {
    control,
    clusters: [...connections.keys()],
    organisationData: organisationDataCache((name) => {
      const connection = connections.get(name);
      if (!connection) throw new Error(`cluster ${name} is not configured; name it in MONGODB_CLUSTERS`);
      return connection;
    }, options.collections),
    ping: async () => {
      await control.db?.admin().command({ ping: 1 }, { timeoutMS: SERVER_SELECTION_TIMEOUT });
    },
    close,
  };
}

function connect(uri: string): Connection {
  return mongoose.createConnection(uri, {
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT,
    socketTimeoutMS: SOCKET_TIMEOUT,
    writeConcern: { w: 'majority', journal: true },
    bufferCommands: false,
  });
}
