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

test('a turn is given back to the organisation that it was taken of, whatever the log says of the caller by then', async () => {
  const turns = createRequestQueue(() => undefined);
  const response = { closed: false, once: () => undefined };
  const [first, second] = ['a', 'a'].map((id) => {
    const log: { principal: object | undefined } = { principal: { kind: 'key', organisation: { id } } };
    return { request: { socket: {} }, response, log };
  });
  const as = (exchange: unknown) => exchange as Parameters<typeof turns.take>[0];
  const began: string[] = [];
  await turns.take(as(first), 'query');
  void turns.take(as(second), 'query').then(() => began.push('second'));
  first!.log.principal = undefined;
  turns.end(as(first));
  await turn();
  await turn();
  expect(began).toEqual(['second']);
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
