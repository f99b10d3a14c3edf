import { GRAPHQL_ERRORS, GRAPHQL_PATH, SCHEMA_PATH } from '../graphql';
import type { Exchange } from '../http/exchange';
import { METRICS_PATH } from './health';
import { type ErrorFormat, PROBLEM } from '../http/problem';
import { MCP_PATH } from '../mcp';
import type { Face } from '../metrics';
import { OAUTH_ERRORS, OAUTH_PATH, RESOURCE_METADATA, SERVER_METADATA } from '../oauth';
import { OPERATOR_BASE } from '../rest';
import { SETTINGS_GRAPHQL, SETTINGS_PATH } from '../settings';
import { REST_BASE } from '../units';

/* What is at each path, in one table: for the faces that answer, the errors that the gateway writes, and the log. */

/** Path of the GraphQL API of operators. */
export const OPERATOR_GRAPHQL = '/operator/graphql';

export interface PathEntry {
  readonly path: string;
  /** Whether the paths below it are its own, too. */
  readonly withBelow?: true;
  /** The requests that it is for (default: all). */
  readonly isFor?: (exchange: Exchange) => boolean;
  /** What callers use there (REST, GraphQL, pages, …), as the log and the metrics name it; `operation` is health and metrics. */
  readonly face: Face;
  /** What answers (default: what has the name of the face). */
  readonly handler?: 'settingsApi';
  readonly errors: ErrorFormat;
  /** Whether its requests count among those in progress, which are limited in number and duration (admission/requestTracker.ts). */
  readonly isTracked: boolean;
  /** Whether pages of other origins (CORS_ORIGINS) may call it. */
  readonly hasCors: boolean;
}

const API = { isTracked: true, hasCors: true } as const;
const API_WITHOUT_CORS = { isTracked: true, hasCors: false } as const;
const UNTRACKED = { errors: PROBLEM, isTracked: false, hasCors: false } as const;
const METADATA = { face: 'oauth', withBelow: true, errors: OAUTH_ERRORS, isTracked: false, hasCors: true } as const;
const PAGES = { face: 'pages', ...UNTRACKED } as const;

/** The entries of PORT, of which the first that fits counts. */
const ENTRIES: readonly PathEntry[] = [
  // everything else at this path is GraphQL
  { path: GRAPHQL_PATH, isFor: isBrowserVisit, ...PAGES },
  { path: GRAPHQL_PATH, face: 'graphql', errors: GRAPHQL_ERRORS, ...API },
  { path: SCHEMA_PATH, face: 'graphql', errors: GRAPHQL_ERRORS, ...API },
  { path: MCP_PATH, face: 'mcp', errors: PROBLEM, ...API },
  { path: `${REST_BASE}/docs`, withBelow: true, ...PAGES },
  { path: REST_BASE, withBelow: true, face: 'rest', errors: PROBLEM, ...API },
  { path: OAUTH_PATH, withBelow: true, face: 'oauth', errors: OAUTH_ERRORS, ...API },
  { path: SERVER_METADATA, ...METADATA },
  { path: RESOURCE_METADATA, ...METADATA },
  { path: '/livez', face: 'operation', ...UNTRACKED },
  { path: '/readyz', face: 'operation', ...UNTRACKED },
  { path: METRICS_PATH, face: 'operation', ...UNTRACKED },
  { path: SETTINGS_GRAPHQL, face: 'settings', handler: 'settingsApi', errors: GRAPHQL_ERRORS, ...API_WITHOUT_CORS },
  { path: SETTINGS_PATH, withBelow: true, face: 'settings', ...UNTRACKED },
];
const OPERATOR_ENTRIES: readonly PathEntry[] = [
  { path: OPERATOR_GRAPHQL, face: 'operator', errors: GRAPHQL_ERRORS, ...API_WITHOUT_CORS },
  { path: OPERATOR_BASE, withBelow: true, face: 'operator', errors: PROBLEM, ...API_WITHOUT_CORS },
];
const ANY_OTHER: PathEntry = { path: '/', withBelow: true, ...PAGES };
const ADMIN: PathEntry = { path: '/', withBelow: true, face: 'operation', ...UNTRACKED };

const entryIn = (table: readonly PathEntry[], exchange: Exchange): PathEntry | undefined =>
  table.find(
    ({ path, withBelow, isFor }) =>
      (exchange.path === path || (withBelow && exchange.path.startsWith(`${path}/`))) && (isFor?.(exchange) ?? true),
  );

interface Port {
  /** Whether it serves the operators' API. */
  readonly hasOperators: boolean;
  /** Whether it is ADMIN_PORT. */
  readonly isAdmin?: true;
}

/** What is at a path of a port. */
export function entryOf(exchange: Exchange, { hasOperators, isAdmin }: Port): PathEntry {
  const ofOperators = hasOperators ? entryIn(OPERATOR_ENTRIES, exchange) : undefined;
  return ofOperators ?? (isAdmin ? ADMIN : (entryIn(ENTRIES, exchange) ?? ANY_OTHER));
}

/** Whether a browser opens the page at /graphql, instead of a client sending a query by GET. */
function isBrowserVisit({ request: { method, headers }, search }: Exchange): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && (headers.accept ?? '').includes('text/html') && !/[?&]query=/.test(search);
}
