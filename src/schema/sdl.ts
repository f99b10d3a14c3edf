import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  concatAST,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  type InputValueDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  parse,
  type ParseOptions,
  Source,
  type TypeNode,
  valueFromASTUntyped,
} from 'graphql';
import { ROOT } from '../package';

/* Reads the SDL and its directives. */

const SCHEMA_FOLDER = join(ROOT, 'schema');

let published: DocumentNode | undefined;

/** schema/*.graphql, read once. */
export function loadDocument(): DocumentNode {
  return (published ??= readDocument({ noLocation: true }));
}

/** The same, by default with the place of each node. @throws Error that names the file and line of an error of syntax */
export function readDocument(options: ParseOptions = {}): DocumentNode {
  const files = readdirSync(SCHEMA_FOLDER).filter((file) => file.endsWith('.graphql'));
  return concatAST(
    files.map((file) => {
      const text = readFileSync(join(SCHEMA_FOLDER, file), 'utf8');
      try {
        return parse(new Source(text, `schema/${file}`), options);
      } catch (error) {
        const line = error instanceof GraphQLError ? error.locations?.[0]?.line : undefined;
        throw new Error(`schema/${file}:${String(line)}: ${(error as Error).message}`, { cause: error });
      }
    }),
  );
}

export type ObjectNode = ObjectTypeDefinitionNode | ObjectTypeExtensionNode;
export type RootType = 'Query' | 'Mutation';
/** The root type of streams. Its fields are no operations: a stream has no answer that REST, retries or totals could be about. */
export const SUBSCRIPTION = 'Subscription';

export function isObjectNode(node: DefinitionNode): node is ObjectNode {
  return node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
}

export function isRootType(type: string): type is RootType {
  return type === 'Query' || type === 'Mutation';
}

interface FieldOfType {
  readonly type: string;
  readonly field: FieldDefinitionNode;
}

/** Keeps what is made of a document, since each list, filter and type asks for it while the program starts. */
export function keptOf<T>(make: (document: DocumentNode) => T): (document: DocumentNode) => T {
  const kept = new WeakMap<DocumentNode, { readonly made: T }>();
  return (document) => {
    const known = kept.get(document);
    if (known) return known.made;
    const made = make(document);
    kept.set(document, { made });
    return made;
  };
}

function grouped<T>(all: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(nameOf(one));
    if (group) group.push(one);
    else groups.set(nameOf(one), [one]);
  }
  return groups;
}

export const allFieldNodes = keptOf((document): readonly FieldOfType[] =>
  document.definitions
    .filter(isObjectNode)
    .flatMap((node) => (node.fields ?? []).map((field) => ({ type: node.name.value, field }))),
);

const fieldsByType = keptOf((document) => grouped(allFieldNodes(document), ({ type }) => type));

export function rootFieldNodes(document: DocumentNode): { kind: RootType; field: FieldDefinitionNode }[] {
  return allFieldNodes(document).flatMap(({ type, field }) => (isRootType(type) ? [{ kind: type, field }] : []));
}

/** The fields of an object type, including those of its extensions. */
export function fieldsOf(document: DocumentNode, type: string | undefined): readonly FieldDefinitionNode[] {
  return (fieldsByType(document).get(type ?? '') ?? []).map(({ field }) => field);
}

const inputNodes = keptOf((document) =>
  document.definitions.filter(
    (node) => node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION,
  ),
);
const inputsByType = keptOf((document) => grouped(inputNodes(document), ({ name }) => name.value));

/** The members of an input type, including those of its extensions. */
export function inputFieldsOf(document: DocumentNode, type: string): InputValueDefinitionNode[] {
  return (inputsByType(document).get(type) ?? []).flatMap(({ fields = [] }) => fields);
}

/** Whether a type is an input type, of which JSON makes an object. */
export function isInputObject(document: DocumentNode, type: string): boolean {
  return inputsByType(document).has(type);
}

const enumNodes = keptOf((document) =>
  document.definitions.filter(
    (node) => node.kind === Kind.ENUM_TYPE_DEFINITION || node.kind === Kind.ENUM_TYPE_EXTENSION,
  ),
);

/** The values of an enum, including those of its extensions. */
export function enumValuesOf(document: DocumentNode, type: string): EnumValueDefinitionNode[] {
  return enumNodes(document).flatMap(({ name, values = [] }) => (name.value === type ? values : []));
}

export function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

export function isListType(type: TypeNode): boolean {
  return type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isListType(type.type));
}

/** Name of the types of pages: a page of quotes is a QuotePage. */
export const PAGE = 'Page';
/** The member of a page with its rows. */
export const ROWS = 'data';

/** Type name of a list's pages; undefined if the field is not a list. */
export function pageOf({ type }: FieldDefinitionNode): string | undefined {
  const name = namedType(type);
  return name.endsWith(PAGE) && !isListType(type) ? name : undefined;
}

/** Type name of a list's rows; undefined if the field is not a list. */
export function rowName(field: FieldDefinitionNode): string | undefined {
  return pageOf(field)?.slice(0, -PAGE.length);
}

/** The default of a published operation's argument, which only the SDL says. */
export function defaultOf(operation: string, argument: string): number {
  const { field } = rootFieldNodes(loadDocument()).find(({ field: { name } }) => name.value === operation) ?? {};
  const constraint = directiveOf(
    field?.arguments?.find(({ name }) => name.value === argument),
    'constraint',
  );
  if (constraint?.default === undefined) throw new Error(`${operation}(${argument}:) has no default`);
  return constraint.default;
}

/** The directives of the SDL, with their arguments (schema/base.graphql says what they mean). */
interface Directives {
  readonly rest: { readonly method: string; readonly path: string; readonly status: number };
  readonly access: {
    readonly scope?: string;
    readonly any_of?: readonly string[];
    readonly events?: boolean;
    readonly role?: string;
  };
  readonly event_types: object;
  readonly graphql_only: { readonly on: 'LISTS' | 'EVERYWHERE' };
  readonly constraint: Constraint;
  readonly filter: { readonly member?: string; readonly by: FilterBy };
  readonly per_element: object;
  readonly stored: { readonly collection: string; readonly unique?: string };
  readonly searchable: object;
  readonly personal: { readonly erased: boolean };
  readonly totals: { readonly of: string; readonly at: string };
  readonly aggregates: object;
  readonly sunset: { readonly since: string; readonly on: string };
  readonly deprecated: object;
  readonly mcp: McpTool;
  readonly untrusted: object;
}

/** What an operation is as a tool (@mcp). */
export interface McpTool {
  readonly fields?: readonly string[];
  readonly limit?: number;
  readonly destructive: boolean;
  readonly idempotent: boolean;
}

export interface Constraint {
  readonly required?: boolean;
  readonly not_null?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly min_length?: number;
  readonly max_length?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly min_items?: number;
  readonly max_items?: number;
  readonly one_of?: readonly string[];
  readonly default?: number;
}

/** How filters compare: the values of FilterBy. */
export const FILTER_KINDS = ['EQUALS', 'SINCE', 'BEFORE', 'WORDS'] as const;
export type FilterBy = (typeof FILTER_KINDS)[number];

/** The arguments of a directive as plain values, with the defaults of the SDL; undefined if the node lacks it. */
export function directiveOf<Name extends keyof Directives>(
  node: { readonly directives?: readonly ConstDirectiveNode[] } | null | undefined,
  name: Name,
): Directives[Name] | undefined {
  const directive = node?.directives?.find((one) => one.name.value === name);
  if (!directive) return undefined;
  const known = readDirectives.get(directive);
  if (known) return known as Directives[Name];
  const { defaults, lists } = readDefinitions().get(name) ?? { defaults: {}, lists: new Set() };
  // as GraphQL reads them: null is as if it were left out, and one value is a list of it
  const given = (directive.arguments ?? []).flatMap((one) => {
    const value: unknown = valueFromASTUntyped(one.value);
    if (value === null) return [];
    return [[one.name.value, lists.has(one.name.value) && !Array.isArray(value) ? [value] : value] as const];
  });
  const read = { ...defaults, ...Object.fromEntries(given) };
  readDirectives.set(directive, read);
  // buildSchemas rejects missing and unknown arguments
  return read as Directives[Name];
}

/** Kept, since checks at the start ask for each of them many times. */
const readDirectives = new WeakMap<ConstDirectiveNode, object>();

interface Definition {
  readonly defaults: object;
  /** The arguments that are lists. */
  readonly lists: ReadonlySet<string>;
}

let definitions: ReadonlyMap<string, Definition> | undefined;

/** The directives that the SDL defines. */
function readDefinitions(): ReadonlyMap<string, Definition> {
  return (definitions ??= new Map(
    loadDocument()
      .definitions.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION)
      .map(({ name, arguments: args = [] }) => {
        const defaults = args.flatMap((one) =>
          one.defaultValue ? [[one.name.value, valueFromASTUntyped(one.defaultValue)] as const] : [],
        );
        const lists = args.filter(({ type }) => isListType(type)).map((one) => one.name.value);
        return [name.value, { defaults: Object.fromEntries(defaults), lists: new Set(lists) }];
      }),
  ));
}
