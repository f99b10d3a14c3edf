import { pick, skuOf } from './data';
import type { Random } from '../faults/random';
import { STATELESS } from '../src/mcp/protocol';
import type { Call, NextCall } from './load';
import { type Content, KEYS_IN_USE, OPERATOR_SECRET } from './rig';

/* The calls of the scenarios; each is for a random object, with a random key. */

export const LIST_LIMIT = 50;
export const LINES_LIMIT = 20;
export const ITEM =
  'id number status currency subtotal_minor discount_minor vat_minor total_minor valid_until customer_id sent_at decided_at created_at updated_at';
export const LINE = 'id position line_type description qty uom unit_price_minor discount_pct vat_exempt lead_time_days';
const QUERIES = {
  Whole: `query Whole($id: ID!) { quote(id: $id) { ${ITEM} lines { ${LINE} } } }`,
  Three: 'query Three($id: ID!) { quote(id: $id) { number status total_minor } }',
  List: `query List($id: ID!, $limit: Int) { quotes(customer_id: $id, limit: $limit) { data { ${ITEM} lines { ${LINE} } } has_more next_cursor } }`,
} as const;

export type QueryName = keyof typeof QUERIES;

/** Headers with one of the first `count` keys at random. */
export function withKeys({ keys }: Content, count = KEYS_IN_USE): (random: Random) => Record<string, string> {
  const used = keys.slice(0, count).map((key) => ({ Authorization: `Bearer ${key}` }));
  return (random) => pick(random, used);
}

type Headers = (random: Random) => Record<string, string>;

const QUOTES = '/api/v1/quotes/';
/** Sofa's default path. */
export const SOFA_QUOTE = '/api/v1/quote/';

export function readQuote(content: Content, headers: Headers = withKeys(content), path = QUOTES): NextCall {
  return (random) => ({
    method: 'GET',
    path: path + pick(random, content.quotes),
    headers: headers(random),
  });
}

/** Sends the quote's ETag, like a caller that has read it before. */
export function readAgain(content: Content, tags: ReadonlyMap<string, string>): NextCall {
  const headers = withKeys(content);
  const known = [...tags];
  return (random) => {
    const [id, tag] = pick(random, known);
    return { method: 'GET', path: QUOTES + id, headers: { ...headers(random), 'If-None-Match': tag } };
  };
}

export function listQuotes(content: Content): NextCall {
  const headers = withKeys(content);
  return (random) => ({
    method: 'GET',
    path: `/api/v1/quotes?customer_id=${pick(random, content.customers)}&limit=${String(LIST_LIMIT)}`,
    headers: headers(random),
  });
}

export function query(content: Content, operationName: QueryName): NextCall {
  const headers = withKeys(content);
  const ids = operationName === 'List' ? content.customers : content.quotes;
  return (random) =>
    post('/graphql', headers(random), {
      operationName,
      query: QUERIES[operationName],
      variables: { id: pick(random, ids), ...(operationName === 'List' && { limit: LINES_LIMIT }) },
    });
}

/** The same as a tool over MCP, with what a client of 2026 sends. */
export function callQuote(content: Content): NextCall {
  const headers = withKeys(content);
  return (random) => {
    const params = { name: 'quote', arguments: { id: pick(random, content.quotes) }, _meta: MCP_META };
    const named = { 'MCP-Protocol-Version': STATELESS, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'quote' };
    const accept = { Accept: 'application/json, text/event-stream' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    return post('/mcp', { ...headers(random), ...named, ...accept }, message);
  };
}

const MCP_META = {
  'io.modelcontextprotocol/protocolVersion': STATELESS,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** New prices for the first products of the connection's own set, so that concurrent calls do not conflict. */
export function upsertProducts(content: Content, count: number): NextCall {
  const headers = withKeys(content);
  return (random, connection) => {
    const products = newPrices(content, { random, connection, count });
    return post('/api/v1/products/bulk', headers(random), { products });
  };
}

/** The same as lines of an operator's stream. */
export function writeLines(content: Content, count: number): NextCall {
  const headers = { Authorization: `Bearer ${OPERATOR_SECRET}`, 'Content-Type': 'application/x-ndjson' };
  const organisation = content.organisation.id;
  return (random, connection) => {
    const products = newPrices(content, { random, connection, count });
    const lines = products.map((product) => JSON.stringify({ organisation, type: 'product', put: product }));
    return { method: 'POST', path: '/operator/v1/writes', headers, body: lines.join('\n') };
  };
}

interface Wanted {
  readonly random: Random;
  readonly connection: number;
  readonly count: number;
}

function newPrices(content: Content, { random, connection, count }: Wanted) {
  const set = connection % content.skus.length;
  const skus = content.skus[set]?.slice(0, count) ?? [skuOf(set, 0)];
  return skus.map((sku) => ({ sku, name: `${sku} anew`, unit_price_minor: Math.floor(random() * 1e6) }));
}

/** 70 % reads, 20 % lists, 8 % changes of one product, 2 % changes of a hundred. */
export function mixed(content: Content): NextCall {
  const [read, list, write, bulk] = [
    readQuote(content),
    listQuotes(content),
    upsertProducts(content, 1),
    upsertProducts(content, 100),
  ];
  return (random, connection) => {
    const share = random() * 100;
    if (share < 70) return { ...read(random, connection), isRead: true };
    if (share < 90) return list(random, connection);
    return (share < 98 ? write : bulk)(random, connection);
  };
}

function post(path: string, headers: Record<string, string>, body: object): Call {
  return {
    method: 'POST',
    path,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}
