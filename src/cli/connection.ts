import { type Config, sourceOf } from '../config';
import { isUnavailable } from '../mongo/faults';
import { OLDEST_MONGODB, OldServerError, StandaloneError } from '../mongo/deployment';
import { optionOf, plainHello } from '../mongo/plainHello';
import { NewerSchemaError, OlderSchemaError } from '../organisations/controlSchema';
import { OtherClusterError } from '../organisations/formerSchemas';
import { messageOf } from './ending';
import { FolderMissingError, SET_FOLDER } from './ownNames';

/*
 * Explains from the driver's errors why the database could not be connected to, which variable to change, and how. The server's own
 * words are not repeated where they can contain a password.
 */

/** Why the database cannot be used. */
export interface Explanation {
  readonly detail: string;
  /** What to do about it. */
  readonly fix: string;
  /** The cause, without addresses, if it may pass by itself: the database is away. */
  readonly away?: string;
}

interface Cause {
  /** Matches an error, as its code, a space and its message. */
  readonly sign: RegExp;
  readonly detail: string;
  /** The part of the message to quote. */
  readonly quote?: RegExp;
  /** `variable` is the one with the URI. */
  readonly fix: (variable: string) => string;
  /** Whether it may pass without a change of the URI. */
  readonly mayPass?: true;
  /** Whether the error only says that there is no connection, which wrong options can cause as well. */
  readonly isVague?: true;
}

const NO_TLS = {
  detail: 'TLS is requested, but the server does not answer in TLS',
  fix: (variable: string) =>
    `remove tls=true from ${variable} (mongodb+srv implies it: add tls=false), or enable TLS on the server`,
};

const CAUSES: readonly Cause[] = [
  {
    // AuthenticationFailed; Atlas, whose code is always 8000: "bad auth : authentication failed"
    sign: /^(18 |8000 bad auth)/i,
    detail: 'the server rejects the user name or the password',
    fix: (variable) =>
      `correct them in ${variable}, percent-encoded (@ is %40, : is %3A, / is %2F, % is %25); if the user is not in the database admin, add ?authSource=NAME`,
  },
  {
    // Unauthorized; Atlas: "not authorized on admin to execute command …", "user is not allowed to do action [find] on …"
    sign: /^13 |^8000 .*not (authorized|allowed)|requires authentication/i,
    detail: 'the server does not allow this user, or a client without a user, to read',
    fix: (variable) =>
      `put a user into ${variable} (mongodb://USER:PASSWORD@…) that has the roles readWriteAnyDatabase and dbAdminAnyDatabase (docs/guides/sharding.md, Roles)`,
  },
  {
    // Atlas: "you are over your space quota, using 513 MB of 512 MB"
    sign: /^8000 .*space quota/i,
    detail: 'the cluster has no space left',
    fix: () => 'choose a larger tier of the cluster in Atlas, or delete data',
  },
  {
    sign: /mechanism.*(not|un)\s*(supported|enabled)|unsupported.*mechanism/i,
    detail: 'the server does not support the authentication mechanism',
    fix: (variable) => `correct or remove authMechanism in ${variable}`,
  },
  {
    sign: /^(CERT_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT)|self.signed certificate|certificate has expired|unable to (verify|get)|altnames/i,
    detail: 'the certificate of the server is not trusted',
    fix: (variable) =>
      `add tlsCAFile=PATH of the authority to the options in ${variable}, and use a host name that the certificate has`,
  },
  { sign: /EPROTO|ERR_SSL|wrong version number|SSL routines|before secure TLS connection/i, ...NO_TLS },
  {
    // of mongodb+srv, any failure to look it up
    sign: /ENOTFOUND|EAI_AGAIN|query(Srv|Txt) E/,
    detail: 'a host name is not known here',
    mayPass: true,
    quote: /(ENOTFOUND|EAI_AGAIN|query(Srv|Txt) E\w+) [^\s)]+/,
    fix: (variable) => `correct the host in ${variable}; if only containers know that name, run this command in one`,
  },
  {
    sign: /ECONNREFUSED/,
    detail: 'nothing listens at that address',
    mayPass: true,
    quote: /ECONNREFUSED [^\s)]+/,
    fix: (variable) => `start the server, or correct host and port in ${variable}`,
  },
  {
    sign: /connection \S+ to \S+ closed|ECONNRESET/i,
    detail: 'the server closes connections at once',
    fix: (variable) =>
      `if it requires TLS, add tls=true to the options in ${variable}; otherwise see the log of the server`,
    mayPass: true,
    isVague: true,
  },
  {
    sign: /server selection timed out/i,
    detail: 'no server that accepts writes answers in time',
    fix: (variable) =>
      `check that this machine can reach the hosts in ${variable}, that replicaSet is the name of their set, that the set has a primary, and that tls fits them`,
    mayPass: true,
    isVague: true,
  },
];

/** The first cause in the table that matches any of the errors, since a general error often wraps the specific one. */
const causeOf = (errors: readonly string[]): Cause | undefined =>
  CAUSES.find(({ sign }) => errors.some((error) => sign.test(error)));

/** Explains an error of the driver; undefined if its cause is not known. */
export function explainDriverError(error: unknown): Explanation | undefined {
  const errors = errorsIn(error);
  const cause = causeOf(errors);
  if (!cause) return undefined;
  const messages = errors.map((text) => text.slice(text.indexOf(' ') + 1));
  const quoted = messages.flatMap((message) => cause.quote?.exec(message)?.[0] ?? []).at(0);
  const detail = `${cause.detail}${quoted === undefined ? '' : ` (${quoted})`}`;
  return { detail, fix: cause.fix(uriVariable()), ...(cause.mayPass && { away: cause.detail }) };
}

/** Explains why the database at `uri` could not be opened; undefined if that is not known. Asks the first host if the error says too little. */
export async function explainOpening(uri: string | undefined, error: unknown): Promise<Explanation | undefined> {
  const known = explainOwnError(error);
  if (known) return known;
  const isVague = causeOf(errorsIn(error))?.isVague;
  const misfit = uri !== undefined && isVague ? await misfitOf(uri) : undefined;
  return misfit ?? explainDriverError(error) ?? explainRefusal(error);
}

function explainOwnError(error: unknown): Explanation | undefined {
  if (error instanceof StandaloneError) return { detail: error.detail, fix: error.fix };
  if (error instanceof FolderMissingError) return { detail: error.detail, fix: SET_FOLDER };
  const fix = FIXES.find(([kind]) => error instanceof kind)?.[1];
  return fix === undefined ? undefined : { detail: (error as Error).message, fix };
}

const FIXES = [
  [OldServerError, `upgrade it to MongoDB ${OLDEST_MONGODB} or later`],
  [NewerSchemaError, 'install that version here, or set CONTROL_DATABASE if another one was meant'],
  [OlderSchemaError, 'install a version in between here first, or set CONTROL_DATABASE if another one was meant'],
  [OtherClusterError, 'see docs/guides/sharding.md, From MONGODB_CLUSTERS'],
] as const;

/** An error of a server that responds but cannot serve now, such as one that is shutting down or being elected. */
function explainRefusal(error: unknown): Explanation | undefined {
  if (!isUnavailable(error)) return undefined;
  const fix = `see the log of the server in ${uriVariable()}`;
  return { detail: messageOf(error), fix, away: 'the server cannot serve now' };
}

/** The variable that has the URI: MONGODB_URI, or MONGODB_URI_FILE if that is set. */
export const uriVariable = (): string => sourceOf('MONGODB_URI');

/** Whether the database is one of MongoDB Atlas, whose users and settings are changed there, and not by commands. */
export function isOnAtlas({ MONGODB_URI = '' }: Pick<Config, 'MONGODB_URI'>): boolean {
  return /^mongodb(\+srv)?:\/\/(?:[^@/]*@)?[^/?]*\.mongodb\.net\b/.test(MONGODB_URI);
}

/** The code and message of an error, of its causes, and of the errors of the servers that were tried; at most 8 deep, as causes may be circular. */
function errorsIn(thrown: unknown, depth = 0): string[] {
  if (!(thrown instanceof Error) || depth > 8) return [];
  const { code = '', message, cause, reason } = thrown as Error & { code?: unknown; reason?: unknown };
  const servers = (reason as { servers?: unknown } | undefined)?.servers;
  const tried = servers instanceof Map ? [...(servers as Map<string, { error?: unknown }>).values()] : [];
  const inner = [cause, reason, ...tried.map(({ error }) => error)];
  return [`${String(code)} ${message}`, ...inner.flatMap((innerError) => errorsIn(innerError, depth + 1))];
}

/** Finds out from the first host of a URI which option is wrong; undefined if the host does not answer, or no option is. */
async function misfitOf(uri: string): Promise<Explanation | undefined> {
  const asksForTls = [optionOf(uri, 'tls'), optionOf(uri, 'ssl')].includes('true');
  if (asksForTls && (await plainHello(uri, { withTls: false })))
    return { detail: NO_TLS.detail, fix: NO_TLS.fix(uriVariable()) };
  const wanted = optionOf(uri, 'replicaset');
  const set = wanted === undefined ? undefined : (await plainHello(uri))?.setName;
  if (typeof set !== 'string' || set === wanted) return undefined;
  return {
    detail: `the server is in the replica set ${set}, not ${String(wanted)}`,
    fix: `set replicaSet=${set} in ${uriVariable()}, or correct its hosts`,
  };
}
