import type { z } from 'zod';
import { parseRange, rangeFault } from '../auth/addresses';

/* Variables that are lists. */

/** Separators between clusters: seed lists contain commas too, so a comma separates only if a name follows. */
const BETWEEN_CLUSTERS = /[\s;]+|,(?=[\s;]|$|[a-z0-9-]+=mongodb(?:\+srv)?:\/\/)/;
/** name=uri; hosts must not contain =, so that a malformed next entry is not read as part of the list of hosts. */
const CLUSTER = /^([a-z0-9-]+)=(mongodb(?:\+srv)?:\/\/(?:[^/\s]*@)?[^/?@=\s]+(?:[/?]\S*)?)$/;

/** The items of a comma-separated list, without empty ones. */
export function items(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

const entriesOf = (text: string, between = /[\s,;]+/): string[] => text.split(between).filter((entry) => entry !== '');

/** What to add to the error for an entry that has a user; only the entry's name is safe to repeat. */
function credentialsHint(entry: string): string {
  if (!entry.includes('@')) return '';
  const name = /^([a-z0-9-]+)=mongodb/.exec(entry)?.[1];
  const whose = name === undefined ? '' : ` of ${name}`;
  return `; user name and password${whose} must be percent-encoded (@ is %40, : is %3A, / is %2F, ? is %3F, # is %23, ; is %3B, % is %25)`;
}

/** Clusters by name. Errors refer to an entry by number, since an entry may contain a password. */
export function readClusters(text: string, context: z.RefinementCtx): Record<string, string> {
  const clusters: Record<string, string> = {};
  const add = (message: string): void => {
    context.addIssue({ code: 'custom', message });
  };
  for (const [at, entry] of entriesOf(text, BETWEEN_CLUSTERS).entries()) {
    const [, name, uri] = CLUSTER.exec(entry) ?? [];
    const which = `entry ${String(at + 1)}`;
    if (name === undefined || uri === undefined)
      add(
        `${which} must be name=mongodb://host[:port][,…][/?options], where name uses a-z, 0-9 and -${credentialsHint(entry)}`,
      );
    else if (name === 'default') add(`${which} must not be named default, which is the cluster of MONGODB_URI`);
    else if (name in clusters) add(`${which} repeats the name ${name}`);
    else clusters[name] = uri;
  }
  return clusters;
}

export interface OperatorToken {
  /** Who has it, for logs and the audit log. */
  readonly name: string;
  readonly secret: string;
}

/** Tokens of operators; two may share a name while one replaces the other. Errors refer to an entry by number, since it has a secret. */
export function readTokens(text: string, context: z.RefinementCtx): readonly OperatorToken[] {
  const tokens: OperatorToken[] = [];
  const add = (message: string): void => {
    context.addIssue({ code: 'custom', message });
  };
  for (const [at, entry] of entriesOf(text).entries()) {
    const [, name, secret] = /^([a-z0-9-]{1,40})=([\x21-\x7e]+)$/.exec(entry) ?? [];
    const which = `entry ${String(at + 1)}`;
    if (name === undefined || secret === undefined)
      add(`${which} must be name=secret, where name uses a-z, 0-9 and -, and secret visible ASCII without , and ;`);
    else if (secret.length < MIN_SECRET)
      add(`${which} must have at least ${String(MIN_SECRET)} characters; openssl rand -hex 32 makes one`);
    else if (tokens.some((other) => other.secret === secret)) add(`${which} repeats the secret of another`);
    else tokens.push({ name, secret });
  }
  return tokens;
}

/** A shorter secret could be guessed, or computed from one signature. */
export const MIN_SECRET = 32;

/** How many files clusters may have: each of them and, as exceptions, some by name. */
interface ClusterFiles {
  readonly each: number;
  readonly of: Readonly<Record<string, number>>;
}

/** MongoDB recommends letting its server open 64,000 files; the rest of them are for connections and the server's own files. */
export const CLUSTER_FILES = 60_000;

export function readClusterFiles(text: string, context: z.RefinementCtx): ClusterFiles {
  let each = CLUSTER_FILES;
  const of: Record<string, number> = {};
  for (const entry of entriesOf(text)) {
    const [, name, files] = /^(?:([a-z0-9-]+)=)?(\d{1,9})$/.exec(entry) ?? [];
    if (files === undefined) context.addIssue({ code: 'custom', message: `${entry} must be a number or name=number` });
    else if (name === undefined) each = Number(files);
    else of[name] = Number(files);
  }
  return { each, of };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Headers by name (OpenTelemetry's specification of the OTLP exporter). Values are secrets, so errors do not repeat them. */
export function readHeaders(text: string, context: z.RefinementCtx): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',').map((part) => part.trim())) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(pair) ?? [];
    const plain = value === undefined ? undefined : decoded(value.trim());
    if (name !== undefined && plain !== undefined) headers[name.toLowerCase()] = plain;
    else context.addIssue({ code: 'custom', message: 'must be name=value pairs, comma-separated, percent-encoded' });
  }
  return headers;
}

export function readRanges(items: readonly string[], context: z.RefinementCtx): readonly string[] {
  return items.flatMap((item) => {
    const range = parseRange(item);
    if (range === undefined) context.addIssue({ code: 'custom', message: `${item} ${rangeFault(item)}` });
    return range ?? [];
  });
}
