import type { IncomingMessage } from 'node:http';
import { GRAPHQL_PATH, SCHEMA_PATH } from './graphql';
import type { Exchange } from './http/exchange';
import { isHealthPath } from './http/health';
import { METRICS_PATH } from './http/metricsPage';
import { MCP_PATH } from './mcp';
import type { Face } from './metrics';
import { REST_BASE } from './rest';
import { isSettings } from './settings';

/** Which part handles a request: a browser that opens /graphql gets a page, everything else there is GraphQL. */
export function faceOf({ path, search, request }: Exchange): Face {
  if (path === GRAPHQL_PATH) return isBrowserVisit(request, search) ? 'pages' : 'graphql';
  if (path === SCHEMA_PATH) return 'graphql';
  if (path === MCP_PATH) return 'mcp';
  if (isHealthPath(path) || path === METRICS_PATH) return 'operation';
  if (isSettings(path)) return 'settings';
  const isRest = path === REST_BASE || path.startsWith(`${REST_BASE}/`);
  return isRest && !isDocs(path) ? 'rest' : 'pages';
}

function isDocs(path: string): boolean {
  return path === `${REST_BASE}/docs` || path.startsWith(`${REST_BASE}/docs/`);
}

function isBrowserVisit({ method, headers }: IncomingMessage, search: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && (headers.accept ?? '').includes('text/html') && !/[?&]query=/.test(search);
}
