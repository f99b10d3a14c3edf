import mongoose from 'mongoose';
import { sourceOf } from '../../config';
import { DEFAULT_CLUSTER } from '../../database/connect';
import { OLDEST_MONGODB, OldServerError } from '../../database/cluster';
import { NewerSchemaError } from '../../organisations/controlSchema';
import { Finding } from './check';

/*
 * Why a cluster could not be connected, from the driver's errors: which variable, and what to do. The server's own words
 * are not repeated where they can contain a password.
 */

/** How long a server has for each question, in milliseconds. */
const ANSWER_WITHIN = 1500;

interface Cause {
  /** Matches the code and message of an error. */
  readonly sign: RegExp;
  readonly detail: string;
  /** The part of the message to quote. */
  readonly quote?: RegExp;
  /** `entry` is the variable, with the name of the cluster if it has several. */
  readonly fix: (entry: string) => string;
  /** Whether it only says that there is no connection, which wrong options can cause too. */
  readonly isVague?: true;
}

const PLAIN = {
  detail: 'TLS is requested, but the server does not answer in TLS',
  fix: (entry: string) =>
    `remove tls=true from ${entry} (mongodb+srv implies it: add tls=false), or enable TLS on the server`,
};

const CAUSES: readonly Cause[] = [
  {
    // AuthenticationFailed, and the code of Atlas for it
    sign: /^(18|8000) .*auth/is,
    detail: 'the server rejects the user name or the password',
    fix: (entry) =>
      `correct them in ${entry}, percent-encoded (@ is %40, : is %3A, / is %2F, % is %25); if the user is not in the database admin, add ?authSource=NAME`,
  },
  {
    // Unauthorized, and the code of Atlas for it
    sign: /^(13|8000) |requires authentication/i,
    detail: 'the server does not allow this user, or anyone without one, to read',
    fix: (entry) =>
      `put a user into ${entry} (mongodb://USER:PASSWORD@…) that has the role readWriteAnyDatabase, or dbAdminAnyDatabase too for doctor --fix`,
  },
  {
    sign: /mechanism.*(not|un)\s*(supported|enabled)|unsupported.*mechanism/i,
    detail: 'the server does not support the authentication mechanism',
    fix: (entry) => `correct or remove authMechanism in ${entry}`,
  },
  {
    sign: /^(CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT)|self.signed certificate|certificate has expired|unable to (verify|get)|altnames/i,
    detail: 'the certificate of the server is not trusted',
    fix: (entry) =>
      `add tlsCAFile=PATH of the authority to the options in ${entry}, and use a host name that the certificate has`,
  },
  { sign: /EPROTO|ERR_SSL|wrong version number|SSL routines|before secure TLS connection/i, ...PLAIN },
  {
    sign: /ENOTFOUND|EAI_AGAIN/,
    detail: 'a host name is not known here',
    quote: /(ENOTFOUND|EAI_AGAIN) [^\s)]+/,
    fix: (entry) => `correct the host in ${entry}; a name that only containers know needs this command to run in one`,
  },
  {
    sign: /ECONNREFUSED/,
    detail: 'nothing listens at that address',
    quote: /ECONNREFUSED [^\s)]+/,
    fix: (entry) => `start the server, or correct host and port in ${entry}`,
  },
  {
    sign: /connection \S+ to \S+ closed|ECONNRESET/i,
    detail: 'the server closes connections at once',
    fix: (entry) => `if it requires TLS, add tls=true to the options in ${entry}; otherwise see the log of the server`,
    isVague: true,
  },
  {
    sign: /server selection timed out/i,
    detail: 'no server that accepts writes answers in time',
    fix: (entry) =>
      `check that this machine can reach the hosts in ${entry}, that replicaSet is the name of their set and it has a primary, and that tls fits them`,
    isVague: true,
  },
];

/** The first cause in the table, since a more general error often wraps a telling one. */
const causeOf = (errors: readonly string[]): Cause | undefined =>
  CAUSES.find(({ sign }) => errors.some((error) => sign.test(error)));

/** What to do about an error of connecting to a cluster; undefined if its cause is not known. */
export function connectionFinding(cluster: string, error: unknown): Finding | undefined {
  const errors = errorsIn(error);
  const cause = causeOf(errors);
  if (!cause) return undefined;
  const messages = errors.map((text) => text.slice(text.indexOf(' ') + 1));
  const quoted = messages.flatMap((message) => cause.quote?.exec(message)?.[0] ?? []).at(0);
  const detail = `${clusterPrefix(cluster)}${cause.detail}${quoted === undefined ? '' : ` (${quoted})`}`;
  return new Finding(detail, cause.fix(entryOf(cluster)));
}

/** @throws Finding with the fix of an error of connecting to a cluster, if it is known; `uri` is what it was connected with */
export async function rethrowWithFix(cluster: string, uri: string | undefined, error: unknown): Promise<never> {
  if (error instanceof OldServerError)
    throw new Finding(error.message, `upgrade that cluster to MongoDB ${OLDEST_MONGODB} or later`);
  if (error instanceof NewerSchemaError)
    throw new Finding(error.message, 'install that version here, or set CONTROL_DATABASE if another one was meant');
  const isVague = causeOf(errorsIn(error))?.isVague;
  const asked = uri !== undefined && isVague ? await askPlainly(cluster, uri) : undefined;
  throw asked ?? connectionFinding(cluster, error) ?? error;
}

/** The variable that names a cluster, with the name of the cluster if it has several. */
export function entryOf(cluster: string): string {
  return cluster === DEFAULT_CLUSTER
    ? sourceOf('MONGODB_URI')
    : `the entry ${cluster} of ${sourceOf('MONGODB_CLUSTERS')}`;
}

/** Names the default cluster; checks of other clusters have their name already. */
export function clusterPrefix(cluster: string): string {
  return cluster === DEFAULT_CLUSTER ? `cluster ${cluster}: ` : '';
}

/** An error with its causes, and those of the servers that were tried, each as its code and message. */
function errorsIn(thrown: unknown, depth = 0): string[] {
  if (!(thrown instanceof Error) || depth > 8) return [];
  const { code = '', message, cause, reason } = thrown as Error & { code?: unknown; reason?: unknown };
  const servers = (reason as { servers?: unknown } | undefined)?.servers;
  const tried = servers instanceof Map ? [...(servers as Map<string, { error?: unknown }>).values()] : [];
  const inner = [cause, reason, ...tried.map(({ error }) => error)];
  return [`${String(code)} ${message}`, ...inner.flatMap((one) => errorsIn(one, depth + 1))];
}

/**
 * Asks the first host of a URI what is wrong; undefined if it does not answer either, or nothing is. The driver waits for a server that
 * fits all options, and says nothing of one that does not, so it is asked without those that may be wrong.
 */
async function askPlainly(cluster: string, uri: string): Promise<Finding | undefined> {
  const host = /^mongodb:\/\/(?:[^@/]*@)?([^/?,]+)/.exec(uri)?.[1];
  if (host === undefined) return undefined;
  const options = new URLSearchParams(/\?(.*)$/.exec(uri)?.[1]);
  const asksForTls = [...options].some(([name, value]) => /^(tls|ssl)$/i.test(name) && value === 'true');
  if (asksForTls && (await helloOf(`mongodb://${host}/`)))
    return new Finding(clusterPrefix(cluster) + PLAIN.detail, PLAIN.fix(entryOf(cluster)));
  const wanted = [...options].find(([name]) => name.toLowerCase() === 'replicaset')?.[1];
  if (wanted === undefined) return undefined;
  const tls = [...options].filter(([name]) => /^(tls|ssl)/i.test(name));
  const set = (await helloOf(`mongodb://${host}/?${new URLSearchParams(tls).toString()}`))?.setName;
  if (typeof set !== 'string' || set === wanted) return undefined;
  return new Finding(
    `${clusterPrefix(cluster)}the server is in the replica set ${set}, not ${wanted}`,
    `set replicaSet=${set} in ${entryOf(cluster)}, or correct its hosts`,
  );
}

async function helloOf(uri: string): Promise<{ readonly setName?: unknown } | undefined> {
  const client = new mongoose.mongo.MongoClient(uri, {
    directConnection: true,
    serverSelectionTimeoutMS: ANSWER_WITHIN,
    connectTimeoutMS: ANSWER_WITHIN,
  });
  try {
    return await client.db('admin').command({ hello: 1 });
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}
