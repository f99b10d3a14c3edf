import { oldestInLog } from '../../mongo/changeCursor';
import { IDLE_RECEIVERS, POSTS, WAITING_REQUESTS } from '../../limits';
import { HOUR, SECOND } from '../../units';
import { BESIDE_POOL, WATCHING } from '../../tenant/databases';
import { isOnAtlas, uriVariable } from '../connection';
import { counted } from '../terminal';
import { type Check, type CheckResult, type DoctorContext, examine, Finding, RUN_AGAIN } from './check';
import { PAGE } from './production';
import { seconds } from './servers';

/* What production needs of the servers of the database, and of this process to reach them: the rest of doctor --production. */

/** Descriptors that a process needs besides its connections to callers and to the database: those of webhooks, and to Redis and its own files, 64. */
const OTHER_FILES = POSTS.all + 2 * IDLE_RECEIVERS + 64;
/** The log of the database should go back this far, in milliseconds: a night without gateways then loses no events. */
const LOG_WINDOW = 24 * HOUR;
/** With fewer members that hold data, one lost machine loses writes or stops them. */
const MEMBERS = 3;
const ON_EACH_SHARD = 'not seen from here: look on each shard';

type Databases = DoctorContext['store']['databases'];

/** Whether the replica set has enough members that hold data. Arbiters do not count, and hidden members are not seen. */
export function checkMembers({ store: { databases } }: DoctorContext): Promise<Check> {
  return examine('production: members', `see ${PAGE}`, async (): Promise<string | CheckResult> => {
    if (databases.shards) return `${ON_EACH_SHARD} (rs.conf())`;
    const members = await membersOf(databases);
    const detail = `${counted(members, 'member')} of the replica set hold${members === 1 ? 's' : ''} data`;
    if (members >= MEMBERS) return detail;
    const fix = `have ${String(MEMBERS)} that hold data, each on its own machine: with fewer, one lost machine loses writes or stops them`;
    return { detail, fix };
  });
}

async function membersOf({ hello }: Databases): Promise<number> {
  // passives have priority 0
  const { hosts = [], passives = [] } = await hello();
  return hosts.length + passives.length;
}

/** Says that the transaction limit is not known; undefined if it is, since it has a line without --production too. */
export async function checkUnseenLimit({ store: { databases } }: DoctorContext): Promise<Check | undefined> {
  const name = 'production: transaction limit';
  if (databases.shards)
    return { name, ok: true, detail: `${ON_EACH_SHARD} (getParameter transactionLifetimeLimitSeconds)` };
  if ((await databases.transactionLimit()) !== undefined) return undefined;
  return { name, ok: true, detail: 'not seen: this user may not read it (role clusterMonitor)' };
}

/** Whether this process may open as many files as it has connections, to callers and to each host of the database. */
export function checkOpenFiles({ store: { databases }, config }: DoctorContext): Promise<Check> {
  return examine('production: open files', `see ${PAGE}`, async () => {
    const report = process.report as typeof process.report & { excludeNetwork: boolean };
    // the report would look up the host names of open connections
    report.excludeNetwork = true;
    const { userLimits } = report.getReport() as unknown as {
      readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
    };
    const soft = userLimits?.open_files?.soft;
    const { hosts, toEach } = await connectionsOf(databases);
    const needed = config.MAX_CONNECTIONS + hosts * toEach + OTHER_FILES;
    if (soft === undefined) return 'the limit is not known on this system';
    if (soft === 'unlimited' || Number(soft) >= needed) return `${String(soft)} allowed, ${String(needed)} needed`;
    throw new Finding(
      `${String(soft)} allowed, but MAX_CONNECTIONS is ${String(config.MAX_CONNECTIONS)}, and ${counted(hosts, 'host')} of ${uriVariable()} can take ${String(toEach)} each`,
      `allow ${String(needed)} (LimitNOFILE in systemd, ulimit -n in a shell), or lower MAX_CONNECTIONS, or maxPoolSize and, for mongos, srvMaxHosts in ${uriVariable()}`,
    );
  });
}

/** How many hosts of the database a gateway may connect to, and how many connections to each. */
async function connectionsOf(databases: Databases): Promise<{ readonly hosts: number; readonly toEach: number }> {
  const { most } = databases.pool();
  // without a limit (maxPoolSize=0), about as many as requests may wait for the database
  const pool = Number.isFinite(most) ? most : WAITING_REQUESTS.all;
  return {
    hosts: Math.max(databases.hosts(), await membersOf(databases)),
    toEach: pool + BESIDE_POOL + WATCHING,
  };
}

/** Whether the log of the database goes back far enough to do without gateways for a day; undefined if this user may not read it, which is reported elsewhere. */
export function checkLogWindow({ store: { databases }, config }: DoctorContext): Promise<Check | undefined> {
  return examine('production: log window', RUN_AGAIN, async (): Promise<CheckResult | undefined> => {
    if (databases.shards) return { detail: `${ON_EACH_SHARD} (rs.printReplicationInfo())` };
    const oldest = await oldestInLog(await databases.streams());
    if (!oldest) return undefined;
    const length = databases.now() - oldest.t * SECOND;
    const detail = `the log goes back ${seconds(length)}`;
    if (length >= LOG_WINDOW) return { detail };
    const setting = isOnAtlas(config)
      ? 'the minimum oplog window (Additional Settings)'
      : 'storage.oplogMinRetentionHours';
    const fix = `unless the servers are younger than that, set ${setting} to 24 or more: changes that leave the log before a gateway has read them are missing from every feed`;
    return { detail: `${detail}, less than a day`, fix };
  });
}
