import type { StoredMember } from '../../src/schema/storedTypes';
import { converted } from '../../src/stored/conversions';

/* What `doctor --rows --fix` makes of values that another program stored; test/cli/rows has those of the stored types. */

const MEMBER: StoredMember = {
  name: 'value',
  kind: 'string',
  type: 'String',
  isRequired: false,
  isList: false,
  isSearchable: false,
  values: undefined,
  pattern: undefined,
  otherwise: undefined,
  members: [],
};
const of = (member: Partial<StoredMember>, value: unknown) => {
  const row = { value };
  const result = converted(row, [{ ...MEMBER, ...member }]);
  return result === row ? undefined : result.value;
};

test.each<Partial<StoredMember>>([
  { kind: 'number', type: 'Float' },
  { kind: 'dateTime', type: 'DateTime' },
  { kind: 'object', type: 'Contact' },
])('a null in a list stays: $type', (member) => {
  expect(of({ ...member, isList: true }, [null])).toBeUndefined();
});

test('a null in a list of numbers leaves the others to be converted', () => {
  expect(of({ kind: 'number', type: 'Minor', isList: true }, [null, '100', 2])).toEqual([null, 100, 2]);
});

test.each([
  ['2026-01-31T12:00:00.1234Z', '2026-01-31T12:00:00.124Z'],
  ['2026-01-31T12:00:00.1230+01:00', '2026-01-31T11:00:00.123Z'],
  ['2026-01-31', undefined],
  ['2026-01-31T12:00:00', undefined],
])('the time %s becomes what a caller that sends it stores: %s', (text, stored) => {
  expect(of({ kind: 'dateTime', type: 'DateTime' }, text)).toEqual(stored === undefined ? undefined : new Date(stored));
});
