import type { Contestant, ContestantName } from './contestants';
import { type Call, fetchOnce } from './load';
import { seeded } from '../faults/random';
import type { Scenario, Tags } from './scenarios';
import type { Content } from './rig';
import { readQuote, withKeys } from './calls';

/* Before anything is timed: everyone answers what is asked, and by hand or by us in the same bytes. */

const BYTE_EQUAL: readonly ContestantName[] = ['node', 'fastify', 'scopegate'];
const TRIES = 5;

/** @throws Error where an answer is not the one that Scopegate gives. */
export async function verify(scenario: Scenario, servers: (name: ContestantName) => Contestant): Promise<void> {
  for (const { contestant, next, status = 200 } of scenario.entries) {
    const random = seeded(7);
    for (let at = 0; at < TRIES; at += 1) {
      const call = next(random, at);
      const answer = await fetchOnce(servers(contestant), call);
      // the first call of a key that is over its limit is still within it
      if (answer.status !== status && contestant !== 'limited') {
        throw new Error(`${contestant} answers ${String(answer.status)} to ${call.path}: ${answer.body.slice(0, 500)}`);
      }
      if (call.path === '/graphql' && answer.body.includes('"errors"'))
        throw new Error(`${contestant}: ${answer.body}`);
      if (scenario.isByteEqual && BYTE_EQUAL.includes(contestant))
        await refuseOther(contestant, call, answer.body, servers);
    }
  }
}

async function refuseOther(
  contestant: ContestantName,
  call: Call,
  body: string,
  servers: (name: ContestantName) => Contestant,
): Promise<void> {
  const own = await fetchOnce(servers('scopegate'), call);
  if (own.body !== body) throw new Error(`${contestant} and Scopegate differ on ${call.path}:\n${body}\n${own.body}`);
}

/** Reads some quotes once, for the tags that a caller would send the next time. */
export async function readTags(content: Content, server: Contestant, count: number): Promise<Tags> {
  const tags = new Map<string, string>();
  const headers = withKeys(content);
  const random = seeded(5);
  for (const id of content.quotes.slice(0, count)) {
    const next = readQuote({ ...content, quotes: [id] }, headers);
    const { headers: answered } = await fetchOnce(server, next(random, 0));
    if (answered.etag !== undefined) tags.set(id, answered.etag);
  }
  return tags;
}
