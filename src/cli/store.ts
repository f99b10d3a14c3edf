import { hostname, userInfo } from 'node:os';
import type { Config } from '../config';
import { checkAddress } from '../mongo/address';
import { connectDatabases, type DatabaseOptions, type Databases } from '../tenant/databases';
import { createRepeats } from '../async/repeats';
import { openWrites } from '../tenant/slots';
import { chooseDatabase, type Database } from '../embedded/index';
import { events } from '../events/collection';
import { fileChunks, files } from '../tenant/files';
import { idempotencyRecords } from '../tenant/idempotency';
import type { Actor } from '../organisations/auditEvents';
import { type Control, type ControlOptions, openControl } from '../organisations/control';
import { collections } from '../resources/index';
import { lackingNames } from './ownNames';
import { webhookDeliveries } from '../webhooks/deliveries';
import { writeVersions } from '../stored/writeVersions';

/** The gateway's own collections in an organisation's database. */
export const GATEWAY_COLLECTIONS = [
  ...[idempotencyRecords, openWrites, writeVersions, events, webhookDeliveries],
  ...[files, fileChunks],
];

/** The database and the control data, open for one command. */
export interface Store {
  readonly databases: Databases;
  readonly control: Control;
  /** The user running the command, for the audit log. */
  readonly operator: Actor;
  /** The database server that was chosen. */
  readonly server: Database;
  /** Names of members and types that this database is served with and the folder of SCHEMA_DIR lacks (ownNames.ts). */
  readonly lacking: readonly string[];
  close(): Promise<void>;
}

/** With `asIs` the control database gets no indexes that this version adds. */
interface StoreOptions extends Pick<ControlOptions, 'asIs'> {
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
}

type Report = (line: string) => void;

/**
 * Chooses the database (contract, section 9), starts it if it is embedded, and opens the control data. `report` gets status lines, such
 * as which server was chosen.
 */
export async function openStore(config: Config, report: Report, options: StoreOptions = {}): Promise<Store> {
  const server = await chooseServer(config, report, options.signal);
  try {
    return await openStoreOn(server, config, { report, ...options });
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The first half of {@link openStore}. */
export function chooseServer(config: Config, report: Report, signal?: AbortSignal): Promise<Database> {
  checkAddress(config);
  return chooseDatabase({ ...config, report, signal });
}

export interface OpeningOptions extends Pick<DatabaseOptions, 'watchClient' | 'signal'>, Pick<ControlOptions, 'asIs'> {
  readonly report: Report;
}

/** The second half: connects to the server, which `close` stops; if this fails, the caller stops it. `watchClient` gets the database clients, to trace their commands. */
export async function openStoreOn(
  server: Database,
  config: Config,
  { report, asIs = false, ...options }: OpeningOptions,
): Promise<Store> {
  const databases = await connectDatabases({
    ...options,
    uri: server.uri,
    isStandIn: server.isStandIn,
    controlDatabase: config.CONTROL_DATABASE,
    validation: config.STORED_VALIDATION,
    collections: [...collections, ...GATEWAY_COLLECTIONS],
    ...(config.ALLOW_OLD_MONGODB && {
      onOldServer: (warning: string) => {
        report(`warning: ${warning}; accepted because of ALLOW_OLD_MONGODB, but some operations will fail`);
      },
    }),
  });
  const countFailure = createRepeats();
  const onError = (error: unknown): void => {
    // such as of the last use of a key, which is written up to ten times a second: so it is said once a minute
    const failures = countFailure('write');
    if (failures !== undefined)
      report(
        `a background write failed: ${String(error)}${failures > 1 ? `, and ${String(failures - 1)} before it` : ''}`,
      );
  };
  const operator = { who: `cli:${userName()}`, from: hostname() };
  const opening = openControl({ config, databases, asIs, actor: operator, onError });
  const opened = opening.then((control) => ({ control, lacking: lackingNames(control.added) }));
  const { control, lacking } = await opened.catch(async (error: unknown) => {
    // open connections would keep the command from ending
    await databases.close();
    throw error;
  });
  return {
    databases,
    control,
    operator,
    server,
    lacking,
    close: async () => {
      await control.apiKeys.settle();
      await databases.close();
      await server.stop();
    },
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // a container may run under a uid that has no name
    return String(process.getuid?.() ?? 'unknown');
  }
}
