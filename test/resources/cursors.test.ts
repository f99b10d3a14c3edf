import { type Arguments, ask, type Face, FACES, refusal } from '../support/faces';
import { callerOf, makeStored } from '../support/factories';
import { late, served } from '../support/gateway';
import { northwindRecords } from '../support/resources';
import { threadRecord } from '../support/threads';

const threads = [threadRecord(['one', 'two']), threadRecord(['one', 'two'])];
const { quotes } = northwindRecords();
const gateway = served();
const caller = late(() => callerOf(gateway, makeStored(gateway, { quotes, requests: threads })));

async function cursorOf(face: Face, list: string, args: Arguments): Promise<string> {
  const { next_cursor: cursor } = await ask(face, caller, list, args);
  return String(cursor);
}

const BAD_CURSOR = { status: 400, code: 'invalid_request', errors: [{ parameter: 'cursor', code: 'cursor' }] };

const ACCEPTED = { status: ['accepted'], created_since: '1997-01-01T00:00:00.000Z' };
const CHANGES: readonly [title: string, list: string, args: Arguments][] = [
  ['another list', 'orders', {}],
  ['another direction', 'quotes', { ...ACCEPTED, sort: 'created_at' }],
  ['a further value of a filter', 'quotes', { ...ACCEPTED, status: ['accepted', 'declined'] }],
  ['fewer filters', 'quotes', { status: ['accepted'] }],
];

describe.each(FACES)('$name rejects a cursor', (face) => {
  test.each(CHANGES)('used with %s', async (_title, list, args) => {
    const cursor = await cursorOf(face, 'quotes', { ...ACCEPTED, limit: 2 });
    expect((await ask(face, caller, 'quotes', { ...ACCEPTED, cursor })).data).toHaveLength(20);
    expect(await refusal(face, caller, list, { ...args, cursor })).toMatchObject(BAD_CURSOR);
  });

  test("of another thread's messages", async () => {
    const [one, other] = threads.map(({ id }) => id);
    const cursor = await cursorOf(face, 'request_messages', { id: one, limit: 1 });
    expect((await ask(face, caller, 'request_messages', { id: one, cursor })).data).toHaveLength(1);
    expect(await refusal(face, caller, 'request_messages', { id: other, cursor })).toMatchObject(BAD_CURSOR);
  });

  // test/unit/properties.test.ts has any other text, and any change of one
  test('that is none, or too long to be one', async () => {
    for (const cursor of [' ', 'W10', '\u0000', '{"$gt":""}', 'a'.repeat(2048)])
      expect(await refusal(face, caller, 'products', { cursor })).toMatchObject(BAD_CURSOR);
    const tooLong = { status: 400, errors: [{ parameter: 'cursor', code: 'length' }] };
    expect(await refusal(face, caller, 'products', { cursor: 'a'.repeat(2049) })).toMatchObject(tooLong);
  });
});
