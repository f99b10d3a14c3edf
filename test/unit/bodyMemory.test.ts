import type { Principal } from '../../src/auth/principal';
import { createBodyMemory } from '../../src/admission/bodyMemory';

const response = { closed: false, destroyed: false, once: () => undefined };
const sender = (key: string, organisation = 'one') => ({
  address: '203.0.113.1',
  response,
  log: { principal: { kind: 'key', key: { id: key }, organisation: { id: organisation } } as unknown as Principal },
});

test('a key has a quarter, within the half of its organisation', () => {
  const bodies = createBodyMemory(64, () => undefined);
  bodies.holdBody(sender('a'), 7);
  bodies.holdBody(sender('a'), 7);
  expect(() => {
    bodies.holdBody(sender('a'), 3);
  }).toThrow('This caller is sending or reading too much data at once');
  bodies.holdBody(sender('b'), 16);
  bodies.holdBody(sender('d'), 2);
  expect(() => {
    bodies.holdBody(sender('d'), 1);
  }).toThrow('This organisation is sending or reading too much data at once');
  bodies.holdBody(sender('c', 'another'), 32);
  expect(bodies.held()).toBe(64);
});

test('all organisations together have the whole', () => {
  const bodies = createBodyMemory(64, () => undefined);
  for (const key of ['1a', '1b', '2a', '2b']) bodies.holdBody(sender(key, key[0]), 16);
  expect(() => {
    bodies.holdBody(sender('c', 'three'), 1);
  }).toThrow('Too much data is being sent');
});

test('rows count with bodies and answers, until the work of their request ends', () => {
  const bodies = createBodyMemory(64, () => undefined);
  const [one, other] = [sender('a'), sender('a')];
  bodies.holdBody(one, 6);
  bodies.holdRows(one, 8);
  bodies.holdRows(other, 2);
  expect(() => {
    bodies.holdRows(other, 1);
  }).toThrow('This caller is sending or reading too much data at once');
  // what was refused keeps none, so that others can complete
  expect(bodies.held()).toBe(14);
  bodies.holdRows(one, -8);
  bodies.holdRows(other, 3);
  expect(bodies.held()).toBe(9);
  bodies.holdRows(other, -5);
  expect(bodies.held()).toBe(6);
  bodies.end(one);
  bodies.end(other);
  expect(bodies.held()).toBe(0);
});

test('a request alone may keep 64 MiB of rows, which take twice as much, and no byte more', () => {
  const [bodies, only] = [createBodyMemory(64, () => undefined), sender('a')];
  bodies.holdRows(only, 128 * 1024 * 1024);
  expect(() => {
    bodies.holdRows(only, 1);
  }).toThrow('The request would read more than 64 MiB from the database');
});

test('a write is refused before its work if its caller holds a share already, by answers that are never refused', () => {
  const bodies = createBodyMemory(600_000, () => undefined);
  const [one, other] = [sender('a'), sender('a')];
  bodies.holdAnswer(one, 200_000, false);
  expect(() => {
    bodies.requireRoom(other);
  }).toThrow('This caller is sending or reading too much data at once');
  bodies.requireRoom(sender('b', 'another'));
});

test('fractions of bytes leave nothing behind', () => {
  const bodies = createBodyMemory(1024, () => undefined);
  const all = Array.from({ length: 20 }, () => sender('a'));
  for (const [at, one] of all.entries()) bodies.holdRows(one, at / 7);
  for (const one of all) bodies.end(one);
  expect(bodies.held()).toBe(0);
});
