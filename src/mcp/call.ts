import { type DocumentNode, getOperationAST, type GraphQLSchema, type OperationDefinitionNode, parse } from 'graphql';
import { answerText } from '../operations/answers';
import { coerceArguments } from '../operations/argumentChecks';
import type { IncomingRequest, RequestContext } from '../operations/context';
import { type Fault, invalidRequest, shorten, validationFailed } from '../errors';
import { isLargePage } from '../admission/requestQueue';
import { type Exchange, setSunsetHeaders } from '../http/exchange';
import type { Runnable, Runner } from '../operations/runner';
import { everyField, rootField, type Selected } from '../operations/selection';
import { toldMembers, withMembers } from '../operations/toldMembers';
import { normaliseKeys } from '../schema/callerKeys';
import { aggregates } from '../schema/declaredOperations';
import { ROWS } from '../schema/sdl';
import { IDEMPOTENCY_KEY_FORM } from '../units';
import { blocksOf, type Content, type Json, MAX_DATA, narrowed, separateUntrusted, shortened, sizeOf } from './answer';
import { CODES, isObject, type Params, ProtocolError } from './protocol';
import { createExplain, listsIn, unknownArgument } from './arguments';
import { FIELDS, IDEMPOTENCY_KEY, requireUse, type Tool, toolsOf } from './tools';

/* Tool calls. */

/** A request. Its idempotency key is set once the arguments of its call are read. */
export type Incoming = Omit<IncomingRequest, 'idempotencyKey'> & { idempotencyKey: string | undefined };

export interface Caller {
  readonly exchange: Exchange;
  readonly incoming: Incoming;
  readonly context: RequestContext;
}

/** After this many reads, a page that is still too long is read with one row. */
const MAX_READS = 3;
/** The largest page, in bytes, to parse and shorten; a larger one is read again with fewer rows. */
const MAX_PARSED = 1024 * 1024;

export function createCalls(runner: Runner) {
  const tools = toolsOf(runner);
  const explain = createExplain(tools);
  const byName = new Map(
    tools.flatMap((tool) => {
      const runnable = runner.of(tool.operation);
      if (!runnable) return [];
      const found = { tool, check: runnable.checks.all, runs: runsOf(tool, runnable), lists: listsIn(tool.field.args) };
      return [[tool.operation.name, found] as const];
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
      const found = byName.get(name);
      if (!found) {
        const problem = `There is no tool ${JSON.stringify(shorten(name))}`;
        throw new ProtocolError(CODES.params, `${problem}; tools/list has those that the key may use.`, 200);
      }
      if (!isObject(given)) throw new ProtocolError(CODES.params, 'params.arguments must be an object.', 200);
      const { tool, check, runs, lists } = found;
      const { sunset } = tool.operation;
      exchange.log.operation = name;
      if (sunset) setSunsetHeaders(exchange.response, [sunset]);
      requireUse(tool, context);
      const { [FIELDS]: fields, [IDEMPOTENCY_KEY]: idempotencyKey, ...rest } = { ...given };
      // some clients send null for arguments that they mean to omit
      if (tool.isWrite) {
        if (isGiven(fields)) throw validationFailed([unknownArgument(FIELDS, tool)]);
        if (isGiven(idempotencyKey)) incoming.idempotencyKey = checkedKey(idempotencyKey);
      } else if (isGiven(idempotencyKey)) throw validationFailed([unknownArgument(IDEMPOTENCY_KEY, tool)]);
      const sent = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
      const args = normaliseKeys(lists ? (lists(sent) as Params) : sent);
      try {
        check(args);
      } catch (error) {
        throw explain(error, tool);
      }
      if (isLargePage(args)) await exchange.turns.take(exchange, 'page');
      return answer(tool, runs, { args, members: membersOf(tool, fields) }, context);
    },
  };
}

export type Calls = ReturnType<typeof createCalls>;

/** The members of rows that a call asks for; undefined for the usual ones. @throws AppError validation_failed */
function membersOf(tool: Tool, fields: unknown): readonly string[] | undefined {
  const { rows } = tool;
  if (!isGiven(fields)) return undefined;
  if (!rows || rows.usual.length === rows.all.length) throw validationFailed([unknownArgument(FIELDS, tool)]);
  const names: readonly unknown[] = Array.isArray(fields) ? fields : [fields];
  const all = rows.all.join(', ');
  if (names.length === 0 || names.length > rows.all.length) {
    const detail = `must be a list of 1 to ${String(rows.all.length)} of ${all}`;
    throw validationFailed([{ pointer: `/${FIELDS}`, code: 'length', detail }]);
  }
  const faults = names.flatMap((name, at): Fault[] =>
    rows.all.includes(name as string)
      ? []
      : [{ pointer: `/${FIELDS}/${String(at)}`, code: 'not_allowed', detail: `must be one of ${all}` }],
  );
  if (faults.length > 0) throw validationFailed(faults);
  return rows.all.filter((name) => name === 'id' || names.includes(name));
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws AppError validation_failed unless it is a string; invalid_request, as in every API, if it is malformed */
function checkedKey(key: unknown): string {
  if (typeof key !== 'string')
    throw validationFailed([{ pointer: `/${IDEMPOTENCY_KEY}`, code: 'type', detail: 'must be a text' }]);
  if (IDEMPOTENCY_KEY_FORM.test(key)) return key;
  const detail = 'must be 1 to 255 visible ASCII characters, e.g. a UUID';
  throw invalidRequest([{ parameter: IDEMPOTENCY_KEY, code: 'format', detail }]);
}

interface Wanted {
  readonly args: Readonly<Record<string, unknown>>;
  readonly members: readonly string[] | undefined;
}

/** Runs an operation. A page that is too long is read again with fewer rows, so that its cursor is right. */
async function answer(tool: Tool, runs: Runs, { args, members }: Wanted, context: RequestContext): Promise<Content[]> {
  const { run, selected } = members ? runs.all : runs.usual;
  const pageSize = tool.limit === undefined ? undefined : ((args.limit as number | null | undefined) ?? tool.limit);
  const notes: string[] = [];
  let [limit, reads] = [pageSize, 0];
  /** Makes the next read one of fewer rows, if that is possible; each page costs what it would cost alone. */
  const shrink = async (size: number, most: number): Promise<boolean> => {
    if (limit === undefined || limit <= 1 || size <= most) return false;
    limit = reads >= MAX_READS ? 1 : Math.max(1, Math.floor((limit * most * 0.9) / size));
    notes[0] = cutTo(limit);
    await context.charge(1);
    return true;
  };
  for (;;) {
    const written = await run(limit === undefined ? args : { ...args, limit }, context);
    reads += 1;
    if (await shrink(written.length, MAX_PARSED)) continue;
    const omitted = context.omitted?.() ?? 0;
    if (omitted > 0) notes[1] = omittedNote(omitted);
    const text = written.toString();
    if (!members && !tool.isOpen && Buffer.byteLength(text) <= MAX_DATA) return blocksOf(text, [], notes);
    const parsed = JSON.parse(text) as Json | null;
    if (parsed === null) return blocksOf(text, [], notes);
    const value = members ? narrowed(parsed, members) : parsed;
    const blocks = (one: Json): Content[] => {
      const untrusted: string[] = [];
      const own = tool.isOpen ? separateUntrusted(one, selected, untrusted) : one;
      return blocksOf(JSON.stringify(own), untrusted, notes);
    };
    const whole = blocks(value);
    const size = sizeOf(whole);
    if (size <= MAX_DATA) return whole;
    if (await shrink(size, MAX_DATA)) continue;
    const shorter = shortened(value, (one) => sizeOf(blocks(one)) <= MAX_DATA);
    notes[0] = shortenedNote(tool, value, shorter.lists);
    return blocks(shorter.answer);
  }
}

function omittedNote(rows: number): string {
  return `${String(rows)} stored ${rows === 1 ? 'object cannot' : 'objects cannot'} be shown and ${rows === 1 ? 'is' : 'are'} left out: another program stored ${rows === 1 ? 'it' : 'them'}, and the operator has to correct ${rows === 1 ? 'it' : 'them'}.`;
}

function cutTo(rows: number): string {
  return `The answer was too long: these are at most ${String(rows)} rows. Ask again with next_cursor for more, or with fewer fields.`;
}

function shortenedNote({ operation, field, isWrite }: Tool, value: Json, lists: readonly string[]): string {
  const what = ['long texts end in …', ...(lists.length > 0 ? [`${lists.join(', ')} (those with errors first)`] : [])];
  const next = typeof value.next_cursor === 'string' ? ' Ask again with next_cursor for more rows.' : '';
  const how = isWrite
    ? 'It was done in full; with fewer elements in a call, each is reported.'
    : aggregates(field.astNode)
      ? 'Ask for less: fewer groups, or a shorter time.'
      : `Ask for less${operation.rest ? ', or read it over REST' : ''}.`;
  return `The answer was too long: ${what.join('; ')}.${next} ${how}`;
}

/** Runs a tool's operation with a selection. */
interface Run {
  readonly selected: readonly Selected[];
  /** Resolves with JSON text, as bytes if it may be long. @throws the operation's error */
  readonly run: (args: Readonly<Record<string, unknown>>, context: RequestContext) => Promise<Buffer | string>;
}

/** The runs with all members and with the usual ones; the same object if the usual ones are all. */
interface Runs {
  readonly all: Run;
  readonly usual: Run;
}

/** The runs of a tool. What is compiled for them depends only on the tool, not on what callers send. */
function runsOf(tool: Tool, { schema, execute, readOf }: Runnable): Runs {
  const { field, rows, operation } = tool;
  const runWith = (selected: readonly Selected[]): Run => {
    let document: { readonly document: DocumentNode; readonly operation: OperationDefinitionNode } | undefined;
    const read = readOf(selected);
    return {
      selected,
      async run(args, context) {
        const written = read && (await read(coerceArguments(field.args, args), context));
        if (written) return written.text;
        document ??= documentOf(schema, tool, selected);
        const { data, errors } = await execute({ ...document, contextValue: context, variableValues: args });
        if (errors?.[0]) throw errors[0];
        const value = data?.[operation.name];
        if (!tool.isWrite) return answerText(value, context);
        const told = toldMembers(operation, args, context);
        return JSON.stringify(told ? withMembers(value as Json | null, told) : value);
      },
    };
  };
  const whole = everyField(field.type);
  const all = runWith(whole);
  const isNarrower = rows !== undefined && rows.usual.length < rows.all.length;
  return {
    all,
    usual: isNarrower ? runWith(whole.map((one) => (one.key === ROWS ? only(one, rows.usual) : one))) : all,
  };
}

/** A selection of rows with the named members only. */
function only(rows: Selected, names: readonly string[]): Selected {
  return { ...rows, selected: rows.selected.filter(({ key }) => names.includes(key)) };
}

/** The operation as GraphQL, with each argument as a variable. */
function documentOf(schema: GraphQLSchema, { operation }: Tool, selected: readonly Selected[]) {
  const { kind, name } = operation;
  const args = rootField(schema, operation)?.args ?? [];
  const variables = args.map((argument) => `$${argument.name}: ${String(argument.type)}`).join(', ');
  const given = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const call = args.length === 0 ? name : `${name}(${given})`;
  const text = `${kind === 'Query' ? 'query' : 'mutation'}${args.length === 0 ? '' : `(${variables})`} { ${call}${selectionText(selected)} }`;
  const document = parse(text, { noLocation: true });
  const node = getOperationAST(document);
  if (!node) throw new Error(`no operation for the tool ${name}`);
  return { document, operation: node };
}

function selectionText(selected: readonly Selected[]): string {
  if (selected.length === 0) return '';
  return ` { ${selected.map((one) => one.key + selectionText(one.selected)).join(' ')} }`;
}
