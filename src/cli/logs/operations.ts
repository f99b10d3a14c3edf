import { nearest } from '../common/nearest';

/** Longest list of root fields that is stored; one of this length was cut (src/graphql). */
const STORED = 200;
/** Names that are shown. */
const SHOWN = 2;

/** The root fields of a request for a column: `customer ×3`, `quotes orders +18`. */
export function operationShown(operation: string | null): string {
  const fields = operation === null || operation === '' ? [] : operation.split(' ');
  const counts = new Map<string, number>();
  for (const field of fields) counts.set(field, (counts.get(field) ?? 0) + 1);
  const shown = [...counts].slice(0, SHOWN);
  const left = fields.length - shown.reduce((sum, [, count]) => sum + count, 0);
  const names = shown.map(([name, count]) => (count > 1 ? `${name} ×${String(count)}` : name));
  const isCut = operation !== null && operation.length >= STORED;
  return [...names, ...(left > 0 ? [`+${String(left)}${isCut ? '…' : ''}`] : [])].join(' ');
}

/** What is wrong with an operation that was looked for in vain, or how else it may be stored. */
export async function operationHint(operation: string): Promise<string> {
  // needed for this hint alone
  const [{ findOperations }, { loadDocument }] = await Promise.all([
    import('../../schema/declaredOperations.js'),
    import('../../schema/sdl.js'),
  ]);
  const names = findOperations(loadDocument()).map(({ name }) => name);
  const unknown = operation.split(' ').find((name) => !name.startsWith('__') && !names.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, names);
    return `There is no operation ${unknown}${near.length > 0 ? `; near it: ${near.join(', ')}` : ''}.`;
  }
  return 'A GraphQL request of several root fields is found by all their names in order, e.g. --operation "quotes orders".';
}
