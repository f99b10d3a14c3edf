import type { StoredMember } from '../../src/schema/storedTypes';
import { mergeOf } from '../../src/stored/merge';

/* Objects in a list of a user's own type, such as the lines of an invoice. */

const member = (name: string, more: Partial<StoredMember> = {}): StoredMember =>
  ({
    name,
    type: 'String',
    kind: 'string',
    isRequired: true,
    isList: false,
    isSearchable: false,
    members: [],
    ...({ values: undefined, pattern: undefined, otherwise: undefined } as Partial<StoredMember>),
    ...(more as object),
  }) as StoredMember;

const lines = member('lines', {
  type: 'Line',
  kind: 'object',
  isList: true,
  members: [
    member('id', { type: 'ID' }),
    member('text', { isSearchable: true }),
    member('note', { isRequired: false }),
  ],
});
const merge = mergeOf({ stored: { members: [lines] } as never, set: ['lines'] }, () => []);
const merged = (before: object | undefined, given: object[]) =>
  (merge(before, { lines: given }, { currency: 'EUR' } as never) as { lines: { id: string; text: string }[] }).lines;

test('objects that are sent again without ids keep theirs, and new ones get some', () => {
  const first = merged(undefined, [{ text: 'a' }, { text: 'b' }]);
  expect(new Set(first.map(({ id }) => id)).size).toBe(2);
  expect(merged({ lines: first }, [{ text: 'a' }, { text: 'b' }])).toEqual(first);
  const [a, b] = first;
  const changed = merged({ lines: first }, [{ text: 'b' }, { text: 'c' }, { text: 'a', note: 'n' }]);
  expect(changed.map(({ id }) => [a!.id, b!.id].indexOf(id))).toEqual([1, -1, 0]);
  expect(merged({ lines: first }, [{ text: 'a', id: b!.id }])).toMatchObject([{ text: 'a', id: b!.id }]);
});

test('parts of a part have their positions, as those of an object', () => {
  const marks = member('marks', {
    type: 'Mark',
    kind: 'object',
    isList: true,
    members: [member('id', { type: 'ID' }), member('position', { type: 'Int', kind: 'number' })],
  });
  const outer = { ...lines, members: [...lines.members, marks] };
  const deep = mergeOf({ stored: { members: [outer] } as never, set: ['lines'] }, () => []);
  const given = { lines: [{ text: 'a', marks: [{}, { position: 7 }, {}] }] };
  expect(deep(undefined, given, { currency: 'EUR' } as never)).toMatchObject({
    lines: [{ marks: [{ position: 0 }, { position: 7 }, { position: 2 }] }],
  });
});

test('as many equal parts as another program may have stored are each gone through once', () => {
  const stored = Array.from({ length: 3000 }, (_, at) => ({ id: String(at), text: 'a', note: null }));
  const copies = jest.spyOn(Array.prototype, Symbol.iterator);
  try {
    expect(merged({ lines: stored }, [{ text: 'a' }])).toEqual(stored.slice(0, 1));
    expect(copies.mock.calls.length).toBeLessThan(1000);
  } finally {
    copies.mockRestore();
  }
});
