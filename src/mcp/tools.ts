import { getNamedType, getNullableType, isListType, isObjectType } from 'graphql';
import type { DataContext } from '../operations/context';
import { AppError } from '../errors';
import type { Runner } from '../operations/runner';
import { argumentsSchema, componentSchemas, constraintOf, type JsonSchema, SCHEMA_ROOT } from '../schema/jsonSchema';
import type { Operation } from '../schema/declaredOperations';
import { IF_MATCH } from '../schema/entityTags';
import { directiveOf, ROWS } from '../schema/sdl';
import { everyField, type Field, type Selected } from '../operations/selection';

/* Operations as tools of the Model Context Protocol, described for a model. */

/** Arguments that tools have besides those of their operation. */
export const FIELDS = 'fields';
export const IDEMPOTENCY_KEY = 'idempotency_key';

export interface Tool {
  readonly operation: Operation;
  readonly field: Field;
  /** Its entry in `tools/list`. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly isWrite: boolean;
  /** The arguments in its input schema, {@link FIELDS} and {@link IDEMPOTENCY_KEY} included. */
  readonly argumentNames: readonly string[];
  /** Members of its rows, if it is a list. */
  readonly rows: Rows | undefined;
  /** Default page size; undefined if it has no pages. */
  readonly limit: number | undefined;
  /** Whether its answers may contain text by people outside the organisation. */
  readonly hasUntrusted: boolean;
}

export interface Rows {
  readonly all: readonly string[];
  /** The members returned to a call without `fields`. */
  readonly usual: readonly string[];
}

/** The tools of a schema, in its order: its operations with `@rest` or `@mcp`. */
export function toolsOf({ schemas, of: runnableOf }: Runner): Tool[] {
  // an operation without a route may have types that the REST schema lacks; of a type in both, that of REST is without what its answers omit
  const [whole, rest] = [schemas.graphql, schemas.rest].map((schema) =>
    componentSchemas(schema, { elementBounds: true, closed: false }),
  );
  const components = { ...whole, ...rest };
  return schemas.operations.flatMap((operation) => {
    const field = runnableOf(operation)?.field;
    if (!field || !(operation.rest ?? directiveOf(field.astNode, 'mcp'))) return [];
    return toolOf(operation, field, components);
  });
}

function toolOf(operation: Operation, field: Field, components: Readonly<Record<string, JsonSchema>>): Tool {
  const mcp = directiveOf(field.astNode, 'mcp');
  const isWrite = operation.kind === 'Mutation';
  const rows = rowsOf(field, mcp?.fields);
  const ofLimit = field.args.find(({ name }) => name === 'limit');
  const limit = ofLimit && (mcp?.limit ?? constraintOf(ofLimit).default);
  const hasUntrusted = selectsUntrusted(everyField(field.type));
  const input = inputSchema(field, { components, rows, limit, isWrite });
  return {
    operation,
    field,
    isWrite,
    rows,
    hasUntrusted,
    limit: isOfPages(field) ? limit : undefined,
    argumentNames: Object.keys(input.properties ?? {}),
    definition: {
      name: operation.name,
      description: withoutOmitted(field.description, true),
      inputSchema: input,
      annotations: {
        readOnlyHint: !isWrite,
        destructiveHint: isWrite && mcp?.destructive !== false,
        idempotentHint: !isWrite || mcp?.idempotent === true,
        openWorldHint: hasUntrusted,
      },
    },
  };
}

/** Members of a list's rows; undefined for any other field. */
function rowsOf({ type }: Field, usual: readonly string[] | undefined): Rows | undefined {
  const page = getNamedType(type);
  const data = isObjectType(page) ? page.getFields()[ROWS] : undefined;
  if (!data || !isListType(getNullableType(data.type))) return undefined;
  const all = everyField(data.type).map(({ key }) => key);
  return { all, usual: usual ? all.filter((name) => name === 'id' || usual.includes(name)) : all };
}

function selectsUntrusted(selected: readonly Selected[]): boolean {
  return selected.some((selection) => isUntrusted(selection) || selectsUntrusted(selection.selected));
}

/** Whether people outside the organisation write the text of a field (`@untrusted`). */
export function isUntrusted({ field }: Selected): boolean {
  return directiveOf(field?.astNode, 'untrusted') !== undefined;
}

/** Whether a field has more than one page: one with a `limit` alone, such as totals, has not. */
function isOfPages({ args }: Field): boolean {
  return args.some(({ name }) => name === 'cursor' || name === 'after');
}

interface InputOptions extends Pick<Tool, 'rows' | 'limit' | 'isWrite'> {
  readonly components: Readonly<Record<string, JsonSchema>>;
}

function inputSchema(field: Field, { components, rows, limit, isWrite }: InputOptions): JsonSchema {
  const operationSchema = concise(argumentsSchema(field.args, { queries: !isWrite }), { isWrite, components });
  // tools show no ETag
  const { [IF_MATCH]: _version, ...properties } = operationSchema.properties as Record<string, JsonSchema>;
  if (limit !== undefined) {
    const { description, ...bounds } = properties.limit ?? {};
    // of pages, the description says no more than the bounds
    properties.limit = {
      ...bounds,
      default: limit,
      ...(!isOfPages(field) && description !== undefined && { description }),
    };
  }
  if (rows && rows.usual.length < rows.all.length) {
    const description = `Default: ${rows.usual.join(', ')}.`;
    properties[FIELDS] = { type: 'array', items: { type: 'string', enum: rows.all }, description };
  }
  if (isWrite) {
    properties[IDEMPOTENCY_KEY] = {
      type: 'string',
      description:
        'Your own id for this write, e.g. a UUID (1 to 255 visible ASCII characters). Repeated with the same arguments, it returns the first answer.',
    };
  }
  return { ...operationSchema, properties };
}

/** Keywords left out: descriptions say the same, or an error does when one matters. */
const OMITTED_KEYWORDS: readonly string[] = [
  'minLength',
  'maxLength',
  'pattern',
  'additionalProperties',
  'propertyNames',
  'maxProperties',
];
/** Formats of JSON Schema; clients' validators reject others. */
const FORMATS: readonly unknown[] = ['date', 'date-time', 'email', 'uri', 'uuid'];

/**
 * Sentences left out: about other APIs, lengths, required scopes (a key without the scope does not see the tool), and of filters that say no more
 * than their name.
 */
const OMITTED_SENTENCES =
  /REST|GraphQL|^Only the \w+ with (?:exactly )?this (?:external_ref|number)\b|^(?:At most|1 to) [\d,]+ characters|^Requires |^Any valid key /;

type ConciseOptions = Pick<InputOptions, 'components' | 'isWrite'>;

/**
 * A schema in as few tokens as a model needs: without lengths and patterns, which are checked all the same, and without ignored
 * members. It also has no references or alternative types, since a single one makes some clients reject every tool: a write's
 * description says that null clears a member, and in a read null is the same as omitting an argument.
 */
function concise(original: JsonSchema, options: ConciseOptions): JsonSchema {
  const { isWrite, components } = options;
  const schema = withoutReference(original, components);
  const { properties, items, description, type, enum: values, ...others } = schema;
  const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
    // how members with @ignored are described, of which a JSON Schema does not know
    .filter(([, member]) => !/^Ignored\b/.test(String(member.description)))
    .map(([name, member]) => [name, concise(member, options)] as const);
  // values listed by the argument itself, as of `sort`, speak for themselves; an enum type's are described where the type is used
  const text = original.enum !== undefined ? '' : withoutOmitted(description, isWrite);
  const rest = Object.entries(others).filter(
    ([name, value]) =>
      !OMITTED_KEYWORDS.includes(name) &&
      // no filter comes near its bounds, but a bulk call might
      (isWrite || !name.endsWith('Items')) &&
      (name !== 'format' || FORMATS.includes(value)),
  );
  return {
    ...(type !== undefined && { type: [type].flat()[0] }),
    ...Object.fromEntries(rest),
    ...(values !== undefined && { enum: (values as unknown[]).filter((value) => value !== null) }),
    ...(items !== undefined && { items: concise(items as JsonSchema, options) }),
    ...(properties !== undefined && { properties: Object.fromEntries(members) }),
    ...(text !== '' && { description: text }),
  };
}

/** Replaces a reference with its schema, with the description of the place that uses it. */
function withoutReference(schema: JsonSchema, components: InputOptions['components']): JsonSchema {
  const { anyOf: [first] = [schema], description } = schema as { anyOf?: readonly JsonSchema[]; description?: string };
  const { $ref: reference } = first ?? {};
  if (typeof reference !== 'string') return schema;
  const { description: _ofType, ...named } = components[reference.slice(SCHEMA_ROOT.length)] ?? {};
  return { ...named, ...(description !== undefined && { description }) };
}

/** A description without {@link OMITTED_SENTENCES}: all others if `keepsAll`, or only the first, which suffices for the arguments of reads. */
export function withoutOmitted(description: unknown, keepsAll: boolean): string {
  if (typeof description !== 'string') return '';
  const kept = description
    .replaceAll(/ \([^)]*REST[^)]*\)/g, '')
    // a paragraph of one's own SDL may end without a full stop
    .split(/\n{2,}|(?<=\.)\s+/)
    .map((sentence) => sentence.replaceAll(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '' && !OMITTED_SENTENCES.test(sentence));
  return (keepsAll ? kept : kept.slice(0, 1)).join(' ');
}

export function mayUse(tool: Tool, context: DataContext): boolean {
  try {
    requireUse(tool, context);
    return true;
  } catch {
    return false;
  }
}

/** @throws AppError insufficient_scope; forbidden if the tool writes and the key may only read over MCP */
export function requireUse({ operation, isWrite }: Tool, context: DataContext): void {
  context.authorise(operation);
  const { principal } = context;
  if (!isWrite || principal.key.mcp === 'write') return;
  throw new AppError(
    'forbidden',
    `This key may only read over MCP; ${operation.name} needs a key whose mcp setting is write.`,
  );
}
