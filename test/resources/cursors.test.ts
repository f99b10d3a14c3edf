import { client, type Client } from '../support/client';
import { type Arguments, ask, type Face, FACES, refusal } from '../support/faces';
import { makeKey, makeOrganisation, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { northwindRecords } from '../support/resources';
import { threadRecord } from '../support/threads';

const threads = [threadRecord(['one', 'two']), threadRecord(['one', 'two'])];
let gateway: TestGateway;
let caller: Client;
let neighbour: Client;

beforeAll(async () => {
  gateway = await startGateway();
  [caller, neighbour] = await Promise.all([makeCaller(), makeCaller()]);
});
afterAll(() => gateway.stop());

/** A caller of a new organisation; all these organisations have the same rows. */
async function makeCaller(): Promise<Client> {
  const organisation = await makeOrganisation(gateway);
  const { quotes } = northwindRecords();
  await store(gateway, organisation, { quotes, requests: threads });
  return client(gateway, (await makeKey(gateway, organisation)).key);
}

async function cursorOf(face: Face, list: string, args: Arguments): Promise<string> {
  const { next_cursor: cursor } = await ask(face, caller, list, args);
  return String(cursor);
}

const BAD_CURSOR = { status: 400, code: 'invalid_request', errors: [{ parameter: 'cursor', code: 'cursor' }] };

const ACCEPTED = { status: ['accepted'], created_since: '1997-01-01T00:00:00.000Z' };
const CHANGES: readonly [title: string, list: string, args: Arguments][] = [
  ['another list', 'orders', {}],
  ['another direction', 'quotes', { ...ACCEPTED, sort: 'created_at' }],
  ['another sort', 'quotes', { ...ACCEPTED, sort: '-updated_at' }],
  ['another value of a filter', 'quotes', { ...ACCEPTED, status: ['declined'] }],
  ['a further value of a filter', 'quotes', { ...ACCEPTED, status: ['accepted', 'declined'] }],
  ['fewer filters', 'quotes', { status: ['accepted'] }],
  ['more filters', 'quotes', { ...ACCEPTED, q: 'Q' }],
  ['no filter', 'quotes', {}],
];

describe.each(FACES)('$name rejects a cursor', (face) => {
  test.each(CHANGES)('used with %s', async (_title, list, args) => {
    const cursor = await cursorOf(face, 'quotes', { ...ACCEPTED, limit: 2 });
    expect((await ask(face, caller, 'quotes', { ...ACCEPTED, cursor })).data).toHaveLength(20);
    expect(await refusal(face, caller, list, { ...args, cursor })).toMatchObject(BAD_CURSOR);
  });

  test('of another organisation with the same rows', async () => {
    const { next_cursor: cursor } = await ask(face, neighbour, 'quotes', { limit: 2 });
    expect(await refusal(face, caller, 'quotes', { limit: 2, cursor })).toMatchObject(BAD_CURSOR);
  });

  test("of another thread's messages", async () => {
    const [one, other] = threads.map(({ id }) => id);
    const cursor = await cursorOf(face, 'request_messages', { id: one, limit: 1 });
    expect((await ask(face, caller, 'request_messages', { id: one, cursor })).data).toHaveLength(1);
    expect(await refusal(face, caller, 'request_messages', { id: other, cursor })).toMatchObject(BAD_CURSOR);
  });

  test('with any one character changed', async () => {
    const cursor = await cursorOf(face, 'quotes', { limit: 2 });
    for (let at = 0; at < cursor.length; at += 1) {
      const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
      expect(await refusal(face, caller, 'quotes', { cursor: changed })).toMatchObject(BAD_CURSOR);
    }
  });

  test('with a forged position', async () => {
    const cursor = await cursorOf(face, 'quotes', { limit: 2 });
    const [mark] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string];
    for (const position of [
      ['1997-01-01T00:00:00.000Z', 'ffffffff'],
      ['never', 'x'],
      [{ $gt: '' }, 'x'],
      [null, null],
    ]) {
      const made = Buffer.from(JSON.stringify([mark, ...position])).toString('base64url');
      expect(await refusal(face, caller, 'quotes', { cursor: made })).toMatchObject(BAD_CURSOR);
    }
  });

  test.each([
    ['blank', ' '],
    ['a letter', 'x'],
    ['an object', 'e30'],
    ['an empty list', 'W10'],
    ['null', 'bnVsbA'],
    ['a percent sign', '%'],
    ['NUL', '\u0000'],
    ['an emoji', '😀'],
    ['the maximum length', 'a'.repeat(2048)],
    ['an operator', '{"$gt":""}'],
    ['a path', '../..'],
  ])('that is invalid: %s', async (_title, cursor) => {
    expect(await refusal(face, caller, 'products', { cursor })).toMatchObject(BAD_CURSOR);
  });

  test('that is empty, as any other empty parameter', async () => {
    const errors = [{ parameter: 'cursor', code: 'length', detail: 'must not be empty' }];
    expect(await refusal(face, caller, 'products', { cursor: '' })).toMatchObject({ code: 'invalid_request', errors });
  });

  test('with characters added or removed', async () => {
    const cursor = await cursorOf(face, 'quotes', { limit: 2 });
    for (const padded of [`${cursor} `, ` ${cursor}`, `${cursor}=`, `${cursor}!`, `${cursor}A`, cursor.slice(0, -1)]) {
      expect(await refusal(face, caller, 'quotes', { cursor: padded })).toMatchObject(BAD_CURSOR);
    }
  });

  test('that is too long', async () => {
    const cursor = 'a'.repeat(2049);
    const { status, errors } = await refusal(face, caller, 'quotes', { cursor });
    expect({ status, parameter: errors[0].parameter }).toEqual({ status: 400, parameter: 'cursor' });
  });
});
