import type { IncomingRequest, DataContext } from '../operations/context';
import { type Fault, invalidRequest, shorten, validationFailed } from '../errors';
import { isLargePage } from '../admission/requestQueue';
import { setSunsetHeaders } from '../http/answer';
import { type Exchange, forgetOmitted } from '../http/exchange';
import type { Run, Runnable, Runner } from '../operations/runner';
import { everyField, type Selected } from '../operations/selection';
import { normaliseKeys } from '../schema/callerKeys';
import { aggregates } from '../schema/declaredOperations';
import { ROWS } from '../schema/sdl';
import { idempotencyKeyFault } from '../errors/idempotencyKey';
import {
  blocksOf,
  type Content,
  CURSOR,
  type Json,
  MAX_DATA,
  narrowed,
  separateUntrusted,
  shortened,
  sizeOf,
} from './answer';
import { CODES, isObject, type Params, ProtocolError } from './protocol';
import { createExplain, listsIn, unknownArgument } from './arguments';
import { FIELDS, IDEMPOTENCY_KEY, requireUse, type Tool, toolsOf } from './tools';

/* Tool calls. */

/** A request. Its idempotency key is an argument of the call, so it is set after the context was opened, which reads it at the write. */
export type Incoming = Omit<IncomingRequest, 'idempotencyKey'> & { idempotencyKey: string | undefined };

export interface Caller {
  readonly exchange: Exchange;
  readonly incoming: Incoming;
  readonly context: DataContext;
}

/** A page that is still too long after this many reads is read a last time, with one row. */
const MAX_READS = 3;
/** The share of the space that a page which is read again aims to fill, since its rows may be larger than the average. */
const FILL = 0.9;
/** The largest page, in bytes, to parse and shorten; a larger one is read again with fewer rows. */
const MAX_PARSED = 1024 * 1024;

/** How many shortened lists a note names: a bulk report may have hundreds, and notes have little space. */
const NAMED_LISTS = 8;

export function createCalls(runner: Runner) {
  const tools = toolsOf(runner);
  const explain = createExplain(tools);
  const byName = new Map(
    tools.flatMap((tool) => {
      const runnable = runner.of(tool.operation);
      if (!runnable) return [];
      const callable = {
        tool,
        check: runnable.checks.all,
        runs: runsOf(tool, runnable.runOf),
        lists: listsIn(tool.field.args),
      };
      return [[tool.operation.name, callable] as const];
    }),
  );

  return {
    tools,
    /**
     * Answers a call.
     * @throws ProtocolError if there is no such tool; AppError for an invalid call or a failed operation
     */
    async call({ name, arguments: given = {} }: Params, { exchange, incoming, context }: Caller): Promise<Content[]> {
      if (typeof name !== 'string') throw new ProtocolError(CODES.params, 'params.name must name a tool.', 200);
      const callable = byName.get(name);
      if (!callable) {
        const problem = `There is no tool ${JSON.stringify(shorten(name))}`;
        throw new ProtocolError(CODES.params, `${problem}; tools/list has those that the key may use.`, 200);
      }
      if (!isObject(given)) throw new ProtocolError(CODES.params, 'params.arguments must be an object.', 200);
      const { tool, check, runs, lists } = callable;
      const { sunset } = tool.operation;
      exchange.log.operation = name;
      if (sunset) setSunsetHeaders(exchange.response, [sunset]);
      requireUse(tool, context);
      const { [FIELDS]: fields, [IDEMPOTENCY_KEY]: idempotencyKey, ...rest } = { ...given };
      if (tool.isWrite) {
        if (isGiven(fields)) throw validationFailed([unknownArgument(FIELDS, tool)]);
        if (isGiven(idempotencyKey)) incoming.idempotencyKey = checkedKey(idempotencyKey);
      } else if (isGiven(idempotencyKey)) throw validationFailed([unknownArgument(IDEMPOTENCY_KEY, tool)]);
      // models send null for filters that they mean to omit; in a write it clears a member
      const callArguments = tool.isWrite
        ? rest
        : Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
      const args = normaliseKeys(lists ? (lists(callArguments) as Params) : callArguments);
      try {
        check(args);
      } catch (error) {
        throw explain(error, tool);
      }
      if (aggregates(tool.field.astNode)) await exchange.queue.take(exchange, 'query');
      else if (isLargePage(args)) await exchange.queue.take(exchange, 'page');
      return answer(tool, runs, { args, members: membersOf(tool, fields) }, { exchange, context });
    },
  };
}

export type Calls = ReturnType<typeof createCalls>;

/** The members of rows that `fields` asks for; undefined for the usual ones. @throws AppError validation_failed */
function membersOf(tool: Tool, fields: unknown): readonly string[] | undefined {
  const { rows } = tool;
  if (!isGiven(fields)) return undefined;
  if (!rows || rows.usual.length === rows.all.length) throw validationFailed([unknownArgument(FIELDS, tool)]);
  const names: readonly unknown[] = Array.isArray(fields) ? fields : [fields];
  const allNames = rows.all.join(', ');
  if (names.length === 0 || names.length > rows.all.length) {
    const detail = `must be a list of 1 to ${String(rows.all.length)} of ${allNames}`;
    throw validationFailed([{ pointer: `/${FIELDS}`, code: 'length', detail }]);
  }
  const faults = names.flatMap((name, at): Fault[] =>
    rows.all.includes(name as string)
      ? []
      : [{ pointer: `/${FIELDS}/${String(at)}`, code: 'not_allowed', detail: `must be one of ${allNames}` }],
  );
  if (faults.length > 0) throw validationFailed(faults);
  return rows.all.filter((name) => name === 'id' || names.includes(name));
}

/** Null is as if left out, since models send it for arguments that they mean to omit. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws AppError validation_failed unless it is a string; invalid_request, as in every API, if it is malformed */
function checkedKey(key: unknown): string {
  if (typeof key !== 'string')
    throw validationFailed([{ pointer: `/${IDEMPOTENCY_KEY}`, code: 'type', detail: 'must be a text' }]);
  if (!idempotencyKeyFault(key)) return key;
  const detail = 'must be 1 to 255 visible ASCII characters, e.g. a UUID';
  throw invalidRequest([{ parameter: IDEMPOTENCY_KEY, code: 'format', detail }]);
}

interface CallOptions {
  readonly args: Readonly<Record<string, unknown>>;
  /** What {@link membersOf} returned. */
  readonly members: readonly string[] | undefined;
}

/** Runs an operation. A page that is too long is read again with fewer rows, so that its cursor is right. */
async function answer(
  tool: Tool,
  runs: Runs,
  { args, members }: CallOptions,
  { exchange, context }: Omit<Caller, 'incoming'>,
): Promise<Content[]> {
  const run = members ? runs.all : runs.usual;
  const pageSize = tool.limit === undefined ? undefined : ((args.limit as number | null | undefined) ?? tool.limit);
  // [0] says what was cut, [1] how many rows were omitted; either may be missing
  const notes: string[] = [];
  let [limit, reads] = [pageSize, 0];
  /** If an answer of `size` is longer than `most`, and has rows to drop, lowers `limit` for another read, charges for that, and returns true. */
  const shrink = async (size: number, most: number): Promise<boolean> => {
    if (limit === undefined || limit <= 1 || size <= most) return false;
    limit = reads >= MAX_READS ? 1 : Math.max(1, Math.floor((limit * most * FILL) / size));
    notes[0] = fewerRowsNote(limit);
    await context.charge(1);
    forgetOmitted(exchange);
    return true;
  };
  for (;;) {
    const callArguments = limit === undefined ? args : { ...args, limit };
    const answered = (await run.read?.(callArguments, context)) ?? (await run.resolve(callArguments, context));
    reads += 1;
    if (await shrink(answered.text.length, MAX_PARSED)) continue;
    const omitted = context.omitted?.() ?? 0;
    notes[1] = omitted > 0 ? omittedNote(omitted) : '';
    const text = answered.text.toString();
    // the common case needs no parsing
    if (!members && !tool.hasUntrusted && Buffer.byteLength(text) <= MAX_DATA) return blocksOf(text, [], notes);
    const parsed = JSON.parse(text) as Json | null;
    if (parsed === null) return blocksOf(text, [], notes);
    const value = members ? narrowed(parsed, members) : parsed;
    const blocks = (json: Json): Content[] => {
      const untrusted: string[] = [];
      const withoutUntrusted = tool.hasUntrusted ? separateUntrusted(json, run.selected, untrusted) : json;
      return blocksOf(JSON.stringify(withoutUntrusted), untrusted, notes);
    };
    const whole = blocks(value);
    const size = sizeOf(whole);
    if (size <= MAX_DATA) return whole;
    if (await shrink(size, MAX_DATA)) continue;
    const shorter = shortened(value, (json) => sizeOf(blocks(json)) <= MAX_DATA);
    notes[0] = shortenedNote(tool, value, shorter.lists);
    return blocks(shorter.answer);
  }
}

function omittedNote(rows: number): string {
  return `${String(rows)} stored ${rows === 1 ? 'object cannot' : 'objects cannot'} be shown and ${rows === 1 ? 'is' : 'are'} left out: another program stored ${rows === 1 ? 'it' : 'them'}, and the operator has to correct ${rows === 1 ? 'it' : 'them'}.`;
}

function fewerRowsNote(rows: number): string {
  return `The answer was too long: these are at most ${String(rows)} rows. Ask again with next_cursor for more, or with fewer fields.`;
}

function shortenedNote({ operation, field, isWrite }: Tool, value: Json, lists: readonly string[]): string {
  const more = lists.length - NAMED_LISTS;
  const named = [...lists.slice(0, NAMED_LISTS), ...(more > 0 ? [`and ${String(more)} more lists`] : [])];
  const what = ['long texts end in …', ...(lists.length > 0 ? [`${named.join(', ')} (those with errors first)`] : [])];
  const next = typeof value[CURSOR] === 'string' ? ' Ask again with next_cursor for more rows.' : '';
  const how = isWrite
    ? 'It was done in full; with fewer elements in a call, each is reported.'
    : aggregates(field.astNode)
      ? 'Ask for less: fewer groups, or a shorter time.'
      : `Ask for less${operation.rest ? ', or read it over REST' : ''}.`;
  return `The answer was too long: ${what.join('; ')}.${next} ${how}`;
}

/** How to read all members of rows, and the usual ones; the same run if the usual ones are all. No others, so that no caller makes the gateway keep more. */
interface Runs {
  readonly all: Run;
  readonly usual: Run;
}

function runsOf({ field, rows }: Tool, runOf: Runnable['runOf']): Runs {
  const whole = everyField(field.type);
  const runAll = runOf(whole);
  const isNarrower = rows !== undefined && rows.usual.length < rows.all.length;
  return {
    all: runAll,
    usual: isNarrower
      ? runOf(whole.map((selection) => (selection.key === ROWS ? only(selection, rows.usual) : selection)))
      : runAll,
  };
}

/** A selection of rows with the named members only. */
function only(rows: Selected, names: readonly string[]): Selected {
  return { ...rows, selected: rows.selected.filter(({ key }) => names.includes(key)) };
}
