/* Presets of a key's scopes: those that follow from the schema, and those of a use, which are made of our resources. */

export interface Preset {
  readonly name: string;
  readonly about: string;
  readonly scopes: readonly string[];
}

const READ_ONLY = { name: 'Read only', about: 'Reads everything, changes nothing.' };
const EVERYTHING = { name: 'Everything', about: 'Reads and writes everything.' };
const BY_USE: readonly Preset[] = [
  {
    name: 'Sync a catalogue',
    about: 'Reads and writes products.',
    scopes: ['products:read', 'products:write'],
  },
  {
    name: 'Dashboard',
    about: 'Reads quotes, orders, customers and products.',
    scopes: ['products:read', 'quotes:read', 'orders:read', 'customers:read'],
  },
];
const OURS: readonly string[] = ['products', 'quotes', 'orders', 'customers', 'requests'];

/** The presets of a schema with these scopes. Where it has resources besides ours, only its operator knows what keys are used for. */
export function presetsOf(scopes: readonly string[]): readonly Preset[] {
  const isOurs = scopes.every((scope) => OURS.some((resource) => scope.startsWith(`${resource}:`)));
  const all = [
    { ...READ_ONLY, scopes: scopes.filter((scope) => scope.endsWith(':read')) },
    ...(isOurs ? BY_USE.filter((preset) => preset.scopes.every((scope) => scopes.includes(scope))) : []),
    { ...EVERYTHING, scopes },
  ];
  return all.filter((preset) => preset.scopes.length > 0);
}
