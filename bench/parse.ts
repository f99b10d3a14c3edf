import { request } from 'node:http';
import { mongo } from 'mongoose';
import type { Quote } from './quote';
import { pick } from './data';
import { LIST_LIMIT } from './calls';
import type { Contestant } from './contestants';
import type { Call, NextCall } from './load';
import type { Content, Rig } from './rig';

/* The same quotes in Parse Server, and the calls that read them. */

export const PARSE_DATABASE = 'parse_bench';
const HEADERS = {
  'X-Parse-Application-Id': 'bench',
  'X-Parse-REST-API-Key': 'bench-key',
  'Content-Type': 'application/json',
};
const DATES = ['sent_at', 'decided_at'] as const;

/** Creates the class with one object through Parse Server, then inserts the quotes as it stores them, and an index for lists. */
export async function fillParse(rig: Rig, server: Contestant, source: readonly Quote[]): Promise<void> {
  const [first] = source;
  if (!first) return;
  const { _id: objectId, search: _search, created_at: _created, updated_at: _updated, ...members } = first;
  const moments = Object.fromEntries(DATES.map((name) => [name, { __type: 'Date', iso: first.created_at }]));
  const body = JSON.stringify({ objectId, ...members, ...moments });
  await post(`${server.url}/parse/classes/Quote`, body);
  const client = await new mongo.MongoClient(rig.database.uri).connect();
  try {
    const objects = client.db(PARSE_DATABASE).collection<{ _id: string }>('Quote');
    await objects.deleteMany({});
    await objects.createIndex({ customer_id: 1, _created_at: -1 }, {}, {});
    for (let at = 0; at < source.length; at += 200) await objects.insertMany(source.slice(at, at + 200).map(toObject));
  } finally {
    await client.close();
  }
}

function toObject({ search: _search, created_at, updated_at, ...members }: Quote): { _id: string } {
  return { ...members, _created_at: created_at, _updated_at: updated_at } as { _id: string };
}

function post(url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers: HEADERS }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 201) resolve();
        else reject(new Error(`Parse Server returned ${String(response.statusCode)}`));
      });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

export function readObject({ quotes }: Content): NextCall {
  return (random) => ({ method: 'GET', path: `/parse/classes/Quote/${pick(random, quotes)}`, headers: HEADERS });
}

/** Lists 50 of a customer's objects, without lines. */
export function listObjects({ customers }: Content): NextCall {
  return (random) => {
    const where = encodeURIComponent(JSON.stringify({ customer_id: pick(random, customers) }));
    const more = `order=-createdAt&limit=${String(LIST_LIMIT)}&excludeKeys=lines`;
    return { method: 'GET', path: `/parse/classes/Quote?where=${where}&${more}`, headers: HEADERS };
  };
}

const MEMBERS =
  'objectId number status currency subtotal_minor discount_minor vat_minor total_minor valid_until customer_id sent_at decided_at createdAt updatedAt lines { ... on Element { value } }';

export function queryObject({ quotes }: Content): NextCall {
  const query = `query Whole($id: ID!) { quote(id: $id) { ${MEMBERS} } }`;
  return (random) => graphql(query, { id: pick(random, quotes) });
}

export function queryObjects({ customers }: Content): NextCall {
  const query = `query List($id: String!) { quotes(where: { customer_id: { equalTo: $id } }, first: 20, order: createdAt_DESC) { edges { node { ${MEMBERS} } } } }`;
  return (random) => graphql(query, { id: pick(random, customers) });
}

function graphql(query: string, variables: object): Call {
  return { method: 'POST', path: '/graphql', headers: HEADERS, body: JSON.stringify({ query, variables }) };
}
