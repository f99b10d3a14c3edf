import type { RequestContext } from './context';
import { requireFits } from './answerSize';

/** Characters to write before others may have their turn: under a millisecond. */
const PIECE = 256 * 1024;

/**
 * The JSON of what a read found, the same that JSON.stringify writes, as bytes: a string of it would be converted again to be sent,
 * and one of 30 MB holds the event loop for 0.3 s.
 * @throws AppError invalid_request if it is too much for an answer
 */
export async function answerText(value: unknown, context: Pick<RequestContext, 'data'>): Promise<Buffer> {
  const written: Buffer[] = [];
  let [piece, size] = ['', 0];
  const end = (): void => {
    const bytes = Buffer.from(piece);
    piece = '';
    size += bytes.length;
    requireFits(size);
    written.push(bytes);
  };
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE) continue;
    end();
    await context.data.giveWay();
  }
  end();
  const [first] = written;
  return first && written.length === 1 ? first : Buffer.concat(written, size);
}

/** Texts that make up the JSON of a value: that of an object without others in it is one. */
function* partsOf(value: unknown): Generator<string, void> {
  if (!holdsObjects(value)) {
    // in a list, undefined is null
    yield value === undefined ? 'null' : JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const [name, member] of isList ? value.entries() : Object.entries(value)) {
    if (member === undefined && !isList) continue;
    yield isList ? before : `${before}${JSON.stringify(name)}:`;
    yield* partsOf(member);
    before = ',';
  }
  yield isList ? ']' : '}';
}

function holdsObjects(value: unknown): value is Readonly<Record<string, unknown>> | readonly unknown[] {
  if (!isOpened(value)) return false;
  for (const name in value) if (isOpened((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}

/** Whether a value is an object or list whose JSON is that of its members. */
function isOpened(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
