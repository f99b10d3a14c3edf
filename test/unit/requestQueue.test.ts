import { setImmediate as turn } from 'node:timers/promises';
import { createRequestQueue } from '../../src/admission/requestQueue';

type Exchange = Parameters<ReturnType<typeof createRequestQueue>['loopTurn']>[0];

const of = (id: string): Exchange => ({ log: { principal: { organisation: { id } } } }) as unknown as Exchange;

test('requests that wait for a turn of the event loop get one each, and those of another organisation do not wait for them', async () => {
  const turns = createRequestQueue(() => undefined);
  const done: string[] = [];
  for (const name of ['a', 'a', 'a', 'b']) void turns.loopTurn(of(name)).then(() => done.push(name));
  const seen: string[] = [];
  for (let at = 0; at < 4; at += 1) {
    await turn();
    seen.push(done.splice(0).sort().join(''));
  }
  expect(seen.filter(Boolean)).toEqual(['ab', 'a', 'a']);
});

test('an operator token has turns of its own', async () => {
  const turns = createRequestQueue(() => undefined);
  const began: string[] = [];
  const response = { closed: false, once: () => undefined };
  for (const name of ['sync', 'sync', 'sync', 'app']) {
    const exchange = { request: { socket: {} }, response, log: { principal: { kind: 'operator', name } } };
    void turns.take(exchange as unknown as Parameters<typeof turns.take>[0], 'body').then(() => began.push(name));
  }
  await turn();
  expect(began).toEqual(['sync', 'sync', 'app']);
});
