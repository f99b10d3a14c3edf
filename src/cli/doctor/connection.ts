import mongoose from 'mongoose';
import { type Config, sourceOf } from '../../config';
import { OLDEST_MONGODB, OldServerError, StandaloneError } from '../../mongo/deployment';
import { FolderMissingError, SET_FOLDER } from '../ownNames';
import { NewerSchemaError, OlderSchemaError } from '../../organisations/controlSchema';
import { OtherClusterError } from '../../organisations/formerSchemas';
import { Finding } from './check';

/*
 * Explains from the driver's errors why the database could not be connected to, which variable to change, and how. The server's own
 * words are not repeated where they can contain a password.
 */

/** How long to wait for each answer of a server, in milliseconds. */
const ANSWER_TIMEOUT = 1500;

interface Cause {
  /** Matches an error, as its code, a space and its message. */
  readonly sign: RegExp;
  readonly detail: string;
  /** The part of the message to quote. */
  readonly quote?: RegExp;
  /** `entry` is the variable with the URI. */
  readonly fix: (entry: string) => string;
  /** Whether the error only says that there is no connection, which wrong options can cause as well. */
  readonly isVague?: true;
}

const NO_TLS = {
  detail: 'TLS is requested, but the server does not answer in TLS',
  fix: (entry: string) =>
    `remove tls=true from ${entry} (mongodb+srv implies it: add tls=false), or enable TLS on the server`,
};

const CAUSES: readonly Cause[] = [
  {
    // AuthenticationFailed, and what Atlas answers instead
    sign: /^(18|8000) .*auth/is,
    detail: 'the server rejects the user name or the password',
    fix: (entry) =>
      `correct them in ${entry}, percent-encoded (@ is %40, : is %3A, / is %2F, % is %25); if the user is not in the database admin, add ?authSource=NAME`,
  },
  {
    // Unauthorized, and what Atlas answers instead
    sign: /^(13|8000) |requires authentication/i,
    detail: 'the server does not allow this user, or a client without a user, to read',
    fix: (entry) =>
      `put a user into ${entry} (mongodb://USER:PASSWORD@…) that has the role readWriteAnyDatabase, and for doctor --fix also dbAdminAnyDatabase`,
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
  { sign: /EPROTO|ERR_SSL|wrong version number|SSL routines|before secure TLS connection/i, ...NO_TLS },
  {
    sign: /ENOTFOUND|EAI_AGAIN/,
    detail: 'a host name is not known here',
    quote: /(ENOTFOUND|EAI_AGAIN) [^\s)]+/,
    fix: (entry) => `correct the host in ${entry}; if only containers know that name, run this command in one`,
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
      `check that this machine can reach the hosts in ${entry}, that replicaSet is the name of their set, that the set has a primary, and that tls fits them`,
    isVague: true,
  },
];

/** The first cause in the table that matches any of the errors, since a general error often wraps the specific one. */
const causeOf = (errors: readonly string[]): Cause | undefined =>
  CAUSES.find(({ sign }) => errors.some((error) => sign.test(error)));

/** Explains an error in connecting; undefined if its cause is not known. */
export function connectionFinding(error: unknown): Finding | undefined {
  const errors = errorsIn(error);
  const cause = causeOf(errors);
  if (!cause) return undefined;
  const messages = errors.map((text) => text.slice(text.indexOf(' ') + 1));
  const quoted = messages.flatMap((message) => cause.quote?.exec(message)?.[0] ?? []).at(0);
  return new Finding(`${cause.detail}${quoted === undefined ? '' : ` (${quoted})`}`, cause.fix(entry()));
}

/** Rethrows an error in connecting to `uri`. @throws Finding with the fix if the cause is known, otherwise the error itself */
export async function rethrowWithFix(uri: string | undefined, error: unknown): Promise<never> {
  if (error instanceof OldServerError)
    throw new Finding(error.message, `upgrade it to MongoDB ${OLDEST_MONGODB} or later`);
  if (error instanceof StandaloneError)
    throw new Finding(
      error.message,
      `run the server in ${entry()} as a replica set (one member is enough: mongod --replSet rs0, then rs.initiate())`,
    );
  if (error instanceof NewerSchemaError)
    throw new Finding(error.message, 'install that version here, or set CONTROL_DATABASE if another one was meant');
  if (error instanceof OlderSchemaError)
    throw new Finding(
      error.message,
      'install a version in between here first, or set CONTROL_DATABASE if another one was meant',
    );
  if (error instanceof FolderMissingError) throw new Finding(error.detail, SET_FOLDER);
  if (error instanceof OtherClusterError)
    throw new Finding(error.message, 'see docs/guides/sharding.md, From MONGODB_CLUSTERS');
  const isVague = causeOf(errorsIn(error))?.isVague;
  const asked = uri !== undefined && isVague ? await askPlainly(uri) : undefined;
  throw asked ?? connectionFinding(error) ?? error;
}

/** The variable that has the URI: MONGODB_URI, or MONGODB_URI_FILE if that is set. */
export const entry = (): string => sourceOf('MONGODB_URI');

/** Whether the database is one of MongoDB Atlas, whose servers cannot be configured. */
export function isOnAtlas({ MONGODB_URI = '' }: Pick<Config, 'MONGODB_URI'>): boolean {
  return /^mongodb(\+srv)?:\/\/(?:[^@/]*@)?[^/?]*\.mongodb\.net\b/.test(MONGODB_URI);
}

/** The code and message of an error, of its causes, and of the errors of the servers that were tried. */
function errorsIn(thrown: unknown, depth = 0): string[] {
  if (!(thrown instanceof Error) || depth > 8) return [];
  const { code = '', message, cause, reason } = thrown as Error & { code?: unknown; reason?: unknown };
  const servers = (reason as { servers?: unknown } | undefined)?.servers;
  const tried = servers instanceof Map ? [...(servers as Map<string, { error?: unknown }>).values()] : [];
  const inner = [cause, reason, ...tried.map(({ error }) => error)];
  return [`${String(code)} ${message}`, ...inner.flatMap((innerError) => errorsIn(innerError, depth + 1))];
}

/**
 * Finds out from the first host of a URI which option is wrong; undefined if the host does not answer, or no option is. The driver
 * waits for a server that fits all options and reports nothing about one that does not, so the host is asked without those that may be wrong.
 */
async function askPlainly(uri: string): Promise<Finding | undefined> {
  const host = /^mongodb:\/\/(?:[^@/]*@)?([^/?,]+)/.exec(uri)?.[1];
  if (host === undefined) return undefined;
  const options = new URLSearchParams(/\?(.*)$/.exec(uri)?.[1]);
  const asksForTls = [...options].some(([name, value]) => /^(tls|ssl)$/i.test(name) && value === 'true');
  if (asksForTls && (await helloOf(`mongodb://${host}/`))) return new Finding(NO_TLS.detail, NO_TLS.fix(entry()));
  const wanted = [...options].find(([name]) => name.toLowerCase() === 'replicaset')?.[1];
  if (wanted === undefined) return undefined;
  const tls = [...options].filter(([name]) => /^(tls|ssl)/i.test(name));
  const set = (await helloOf(`mongodb://${host}/?${new URLSearchParams(tls).toString()}`))?.setName;
  if (typeof set !== 'string' || set === wanted) return undefined;
  return new Finding(
    `the server is in the replica set ${set}, not ${wanted}`,
    `set replicaSet=${set} in ${entry()}, or correct its hosts`,
  );
}

/** The server's answer to `hello`; undefined if it does not answer in time. */
async function helloOf(uri: string): Promise<{ readonly setName?: unknown } | undefined> {
  const client = new mongoose.mongo.MongoClient(uri, {
    directConnection: true,
    serverSelectionTimeoutMS: ANSWER_TIMEOUT,
    connectTimeoutMS: ANSWER_TIMEOUT,
  });
  try {
    return await client.db('admin').command({ hello: 1 });
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}
