import { BSON, endOfKey, endOfValue, forEachObject, refuseReference, skipValue, UnsupportedValue } from '../mongo/bson';
import type { JsonOutput } from './jsonOutput';

/* Writes metadata, stored as a list of {key, value}, from the bytes of its pairs in BSON (docs/decisions/metadata.md). */

/** Where a text is in the bytes. */
type Place = readonly [start: number, end: number];

const COLON = Buffer.from(':');
const COMMA = Buffer.from(',');
const OPEN = Buffer.from('{');
const CLOSE = Buffer.from('}');

/** Writes metadata as an object; `form` is that of its keys, which are ASCII. `writing` has the bytes of the current row. */
export function metadataWriter(out: JsonOutput, writing: { readonly bytes: Buffer }, form: RegExp) {
  return (at: number, type: number, end: number): void => {
    const { bytes } = writing;
    out.put(OPEN);
    let isFirst = true;
    for (const [key, value] of placesOfPairs(bytes, form, [at, type, end])) {
      if (!isFirst) out.put(COMMA);
      isFirst = false;
      out.string(bytes, ...key);
      out.put(COLON);
      out.string(bytes, ...value);
    }
    out.put(CLOSE);
  };
}

/**
 * The pairs in the order in which a JavaScript object has them, keys that are whole numbers first.
 * @throws UnsupportedValue for what only resolvers can answer
 */
export function placesOfPairs(bytes: Buffer, form: RegExp, [start, type, end]: readonly [number, number, number]) {
  if (type !== BSON.array) throw new UnsupportedValue('type');
  const pairs = Object.create(null) as Record<string, [Place, Place]>;
  forEachObject(bytes, start, end, (from, to) => {
    const pair = pairAt(bytes, from, to);
    const key = bytes.toString('latin1', ...pair[0]);
    if (!form.test(key) || key in pairs) throw new UnsupportedValue('format');
    pairs[key] = pair;
  });
  return Object.values(pairs);
}

/** The texts of a pair. In BSON, an object begins with its length, a text has its length before it (4 bytes each), and both end with a zero. */
function pairAt(bytes: Buffer, start: number, end: number): [Place, Place] {
  let at = start + 4;
  let [key, value]: (Place | undefined)[] = [];
  for (;;) {
    const type = bytes[at++] ?? 0;
    if (type === 0) break;
    const to = endOfKey(bytes, at, end);
    const name = bytes.toString('latin1', at, to);
    at = to + 1;
    const isPart = name === 'key' || name === 'value';
    if (!isPart) refuseReference(bytes, at - name.length - 1);
    if (isPart && type !== BSON.text) throw new UnsupportedValue('type');
    const next = isPart ? endOfValue(bytes, type, at, end) : skipValue(bytes, type, at, end);
    // a second member of that name, of which the driver would take the last
    if ((name === 'key' && key) || (name === 'value' && value)) throw new UnsupportedValue('document');
    if (name === 'key') key = [at + 4, next - 1];
    if (name === 'value') value = [at + 4, next - 1];
    at = next;
  }
  if (!key || !value || at !== end) throw new UnsupportedValue('missing');
  return [key, value];
}
