import { presetsOf } from '../../web/settings/keyPresets';

/* The presets of the dialog of a new key. */

const OURS = [
  ...['products:read', 'products:write', 'quotes:read', 'orders:read'],
  ...['customers:read', 'customers:write', 'requests:read', 'requests:write'],
];
const named = (scopes: readonly string[]): string[] => presetsOf(scopes).map(({ name }) => name);

test('of our resources there are presets of a use, if they have all the scopes that it needs', () => {
  expect(named(OURS)).toEqual(['Read only', 'Sync a catalogue', 'Dashboard', 'Everything']);
  expect(named(OURS.filter((scope) => scope !== 'products:write'))).toEqual(['Read only', 'Dashboard', 'Everything']);
  expect(named(OURS.filter((scope) => scope !== 'orders:read'))).toEqual([
    ...['Read only', 'Sync a catalogue', 'Everything'],
  ]);
});

test('with resources of a folder, with ours or without, there are those that follow from the schema', () => {
  const own = ['invoices:read', 'invoices:write'];
  expect(presetsOf([...OURS, ...own])).toMatchObject([
    { name: 'Read only', scopes: expect.arrayContaining(['invoices:read', 'orders:read']) },
    { name: 'Everything', scopes: [...OURS, ...own] },
  ]);
  expect(presetsOf(own)).toMatchObject([{ scopes: ['invoices:read'] }, { scopes: own }]);
  expect(named(['invoices:write'])).toEqual(['Everything']);
});
