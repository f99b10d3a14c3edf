import type { RequestContext } from '../context';
import { type Fault, validationFailed } from '../errors';
import { argumentChecks } from '../schema/argumentChecks';
import type { Schemas } from '../schema/build';
import { inKeptSpelling } from '../schema/compared';
import { FIELDS, IDEMPOTENCY_KEY, ROWS } from '../schema/mcpGaps';
import { blocksOf, type Content, type Json, MOST_DATA, narrowed, setApart, shortened, sizeOf } from './answer';
import { CODES, isObject, type Params, ProtocolError } from './protocol';
import { createRuns, type Runs } from './run';
import { requireUse, type Tool, toolsOf } from './tools';

/* Calls of tools. */

/** Called with the name of a known tool, and with the idempotency key of a write, before it runs. */
export interface CallHooks {
  readonly onTool: (tool: Tool) => void;
  readonly onIdempotencyKey: (key: string) => void;
}

/** How often a page that is too long is read again with fewer rows. */
const MOST_READS = 3;

export function createCalls(schemas: Schemas, onWritable?: Parameters<typeof createRuns>[1]) {
  const tools = toolsOf(schemas);
  const checkOf = {
    rest: argumentChecks(schemas.rest, objectsOf(tools, true), { rawElements: true }),
    others: argumentChecks(schemas.graphql, objectsOf(tools, false)),
  };
  const runsOf = createRuns(schemas, onWritable);
  const byName = new Map(
    tools.map((tool) => {
      const { operation, field } = tool;
      const check = (operation.rest ? checkOf.rest : checkOf.others)({ type: operation.kind, field });
      return [operation.name, { tool, check, runs: runsOf(tool) }] as const;
    }),
  );

  return {
    tools,
    /**
     * Answers a call.
     * @throws ProtocolError if there is no such tool; AppError for what is wrong with the call or could not be done
     */
    async call({ name, arguments: given = {} }: Params, context: RequestContext, hooks: CallHooks): Promise<Content[]> {
      const found = typeof name === 'string' ? byName.get(name) : undefined;
      if (!found)
        throw new ProtocolError(CODES.params, 'Unknown tool: tools/list has those that the key may use.', 200);
      if (!isObject(given)) throw new ProtocolError(CODES.params, 'params.arguments must be an object.', 200);
      const { tool, check, runs } = found;
      hooks.onTool(tool);
      requireUse(tool, context);
      const { [FIELDS]: fields, [IDEMPOTENCY_KEY]: idempotencyKey, ...rest } = { ...given };
      if (tool.isWrite) {
        if (fields !== undefined) throw validationFailed([unknown(FIELDS)]);
        if (typeof idempotencyKey === 'string') hooks.onIdempotencyKey(idempotencyKey);
        else if (idempotencyKey !== undefined) throw validationFailed([mistyped(IDEMPOTENCY_KEY, 'must be a string')]);
      } else if (idempotencyKey !== undefined) throw validationFailed([unknown(IDEMPOTENCY_KEY)]);
      const args = inKeptSpelling(rest);
      check(args);
      return answer(tool, runs, { args, members: membersOf(tool, fields) }, context);
    },
  };
}

export type Calls = ReturnType<typeof createCalls>;

function objectsOf(tools: readonly Tool[], isRest: boolean) {
  return tools
    .filter(({ operation }) => (operation.rest !== undefined) === isRest)
    .map(({ operation, field }) => ({ type: operation.kind, field }));
}

/** The members that a call wants of each row; undefined for the usual ones. @throws AppError validation_failed */
function membersOf({ rows }: Tool, fields: unknown): readonly string[] | undefined {
  if (fields === undefined) return undefined;
  if (!rows || rows.usual.length === rows.all.length) throw validationFailed([unknown(FIELDS)]);
  if (!Array.isArray(fields) || fields.length === 0) throw validationFailed([mistyped(FIELDS, 'must list members')]);
  const faults = fields.flatMap((name: unknown, at): Fault[] =>
    rows.all.includes(name as string)
      ? []
      : [{ pointer: `/${FIELDS}/${String(at)}`, code: 'not_allowed', detail: `must be one of ${rows.all.join(', ')}` }],
  );
  if (faults.length > 0) throw validationFailed(faults);
  return rows.all.filter((name) => name === 'id' || fields.includes(name));
}

function unknown(name: string): Fault {
  return { pointer: `/${name}`, code: 'unknown', detail: 'is not an argument of this tool' };
}

function mistyped(name: string, detail: string): Fault {
  return { pointer: `/${name}`, code: 'type', detail };
}

interface Wanted {
  readonly args: Readonly<Record<string, unknown>>;
  readonly members: readonly string[] | undefined;
}

/** Runs an operation, and reads a page that is too long again with fewer rows, so that its cursor is right. */
async function answer(tool: Tool, runs: Runs, { args, members }: Wanted, context: RequestContext): Promise<Content[]> {
  const { run, selected } = members ? runs.all : runs.usual;
  const pageSize = tool.limit === undefined ? undefined : ((args.limit as number | null | undefined) ?? tool.limit);
  const notes: string[] = [];
  for (let limit = pageSize, reads = 1; ; reads += 1) {
    const text = await run(limit === undefined ? args : { ...args, limit }, context);
    if (!members && !tool.isOpen && Buffer.byteLength(text) <= MOST_DATA) return blocksOf(text, [], notes);
    const parsed = JSON.parse(text) as Json | null;
    if (parsed === null) return blocksOf(text, [], notes);
    const value = members ? narrowed(parsed, members) : parsed;
    const blocks = (one: Json): Content[] => {
      const strangers: string[] = [];
      const own = tool.isOpen ? setApart(one, selected, strangers) : one;
      return blocksOf(JSON.stringify(own), strangers, notes);
    };
    const whole = blocks(value);
    const size = sizeOf(whole);
    if (size <= MOST_DATA) return whole;
    if (limit !== undefined && limit > 1) {
      limit = reads >= MOST_READS ? 1 : Math.max(1, Math.floor((limit * MOST_DATA * 0.9) / size));
      const cut = 'The answer was too long:';
      notes[0] = `${cut} these are at most ${String(limit)} rows. Ask again with next_cursor for more, or with fewer fields.`;
      // each page costs what it would cost alone
      await context.charge(1);
      continue;
    }
    notes.push(shortenedNote(tool, value));
    return blocks(shortened(value, (one) => sizeOf(blocks(one)) <= MOST_DATA));
  }
}

function shortenedNote(tool: Tool, value: Json): string {
  const rows = value[ROWS];
  const how = 'The answer was too long: long texts end in … and long lists lack elements.';
  const most = tool.rows && Array.isArray(rows) ? ` It has ${String(rows.length)} rows in full.` : '';
  return `${how}${most} Ask for less, or read it over REST.`;
}
