import { EventEmitter } from 'node:events';
import { createBodyMemory } from '../../src/http/bodyMemory';
import { MEBIBYTE } from '../../src/units';

/* Answers, which count in the memory of bodies (test/operation/bodyMemory has the bodies). */

let refused: number;
let memory: ReturnType<typeof createBodyMemory>;
beforeEach(() => {
  refused = 0;
  memory = createBodyMemory(16 * MEBIBYTE, () => (refused += 1));
});

function exchange(address = '192.0.2.1') {
  return { address, log: {}, response: Object.assign(new EventEmitter(), { closed: false, destroyed: false }) };
}

test('an answer counts until its response is closed, its body until the request is done', () => {
  const one = exchange();
  memory.hold(one, 1000);
  memory.keep(one, 2 * MEBIBYTE);
  memory.keep(one, 3 * MEBIBYTE);
  expect(memory.held()).toBe(3 * MEBIBYTE + 1000);
  memory.release(one);
  expect(memory.held()).toBe(3 * MEBIBYTE);
  one.response.emit('close');
  expect(memory.held()).toBe(0);
});

test('a small answer does not count, nor one whose caller has left', () => {
  memory.keep(exchange(), 64 * 1024);
  const gone = exchange();
  gone.response.closed = true;
  memory.keep(gone, MEBIBYTE);
  expect(memory.held()).toBe(0);
});

test('an answer beyond the share of its caller is refused and counts no more; that of another, and of a write, is not', () => {
  const [first, second] = [exchange(), exchange()];
  memory.keep(first, 3 * MEBIBYTE);
  memory.keep(second, MEBIBYTE);
  expect(() => {
    memory.keep(second, 2 * MEBIBYTE);
  }).toThrow(expect.objectContaining({ code: 'unavailable', extras: { reason: 'shed', retryAfter: 2 } }));
  expect([memory.held(), refused]).toEqual([3 * MEBIBYTE, 1]);
  memory.keep(second, 2 * MEBIBYTE, false);
  memory.keep(exchange('192.0.2.2'), 4 * MEBIBYTE);
  expect(memory.held()).toBe(9 * MEBIBYTE);
});

test('the only answer of a caller is never refused, whatever its size and that of its own body', () => {
  const one = exchange();
  memory.hold(one, MEBIBYTE);
  memory.keep(one, 16 * MEBIBYTE);
  expect(memory.held()).toBe(17 * MEBIBYTE);
});
