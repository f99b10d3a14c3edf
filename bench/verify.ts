import type { Contestant, ContestantName } from './contestants';
import { type Call, fetchOnce } from './load';
import { seeded } from '../faults/random';
import type { Scenario, Tags } from './scenarios';
import type { Content } from './rig';
import { readQuote, withKeys } from './calls';

/* Checks the answers before timing; hand-written servers must return the same bytes as Scopegate. */

const BYTE_EQUAL: readonly ContestantName[] = ['node', 'fastify', 'scopegate'];
const TRIES = 5;

/** @throws Error if an answer is unexpected, or differs from Scopegate's where bytes must be equal. */
export async function verify(scenario: Scenario, servers: (name: ContestantName) => Contestant): Promise<void> {
  for (const { contestant, next, status = 200 } of scenario.entries) {
    const random = seeded(7);
    for (let at = 0; at < TRIES; at += 1) {
      const call = next(random, at);
      const answer = await fetchOnce(servers(contestant), call);
      // a key's first calls are still within the limit
      if (answer.status !== status && contestant !== 'limited') {
        throw new Error(
          `${contestant} returned ${String(answer.status)} for ${call.path}: ${answer.body.slice(0, 500)}`,
        );
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

/** Reads some quotes once and returns their ETags. */
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
