import {
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type EnumTypeDefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  type InputObjectTypeDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  type NameNode,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  type TypeNode,
  valueFromASTUntyped,
} from 'graphql';
import { loadDocument } from '../sdl/files';
import { namedType } from '../sdl/nodes';

/* The types of the SDL and its directives. */

export type ObjectNode = ObjectTypeDefinitionNode | ObjectTypeExtensionNode;
export type RootType = 'Query' | 'Mutation';
/** The root type of streams. Its fields are not operations: a stream has no single answer that REST could return or a retry could repeat. */
export const SUBSCRIPTION = 'Subscription';

export function isObjectNode(node: DefinitionNode): node is ObjectNode {
  return node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
}

export function isRootType(type: string): type is RootType {
  return type === 'Query' || type === 'Mutation';
}

export interface FieldOfType {
  readonly type: string;
  readonly field: FieldDefinitionNode;
}

export interface RootField {
  readonly kind: RootType;
  readonly field: FieldDefinitionNode;
}

/** The types of a document by name, each with its extensions. */
export class Sdl {
  /** The fields of all object types, root types among them. */
  readonly fields: readonly FieldOfType[];
  /** The fields of Query and Mutation. */
  readonly roots: readonly RootField[];
  readonly #fields: ReadonlyMap<string, readonly FieldDefinitionNode[]>;
  readonly #inputs: ReadonlyMap<string, readonly InputValueDefinitionNode[]>;
  readonly #enums: ReadonlyMap<string, readonly EnumValueDefinitionNode[]>;

  constructor(readonly document: DocumentNode) {
    const nodes = document.definitions;
    const objects = nodes.filter(isObjectNode);
    this.fields = objects.flatMap(({ name, fields = [] }) => fields.map((field) => ({ type: name.value, field })));
    this.roots = this.fields.flatMap(({ type, field }) => (isRootType(type) ? [{ kind: type, field }] : []));
    this.#fields = byName(objects, ({ fields }) => fields);
    this.#inputs = byName(
      nodes.filter(
        ({ kind }) => kind === Kind.INPUT_OBJECT_TYPE_DEFINITION || kind === Kind.INPUT_OBJECT_TYPE_EXTENSION,
      ) as readonly InputObjectTypeDefinitionNode[],
      ({ fields }) => fields,
    );
    this.#enums = byName(
      nodes.filter(
        ({ kind }) => kind === Kind.ENUM_TYPE_DEFINITION || kind === Kind.ENUM_TYPE_EXTENSION,
      ) as readonly EnumTypeDefinitionNode[],
      ({ values }) => values,
    );
  }

  fieldsOf(type: string | undefined): readonly FieldDefinitionNode[] {
    return this.#fields.get(type ?? '') ?? [];
  }

  rootField(name: string): FieldDefinitionNode | undefined {
    return this.roots.find(({ field }) => field.name.value === name)?.field;
  }

  /** The type of the rows in a page or in totals, from the member with them; undefined for any other type. */
  rowTypeOf(type: string | undefined): string | undefined {
    const rows = this.fieldsOf(type).find(({ name }) => name.value === ROWS);
    return rows && namedType(rows.type);
  }

  /** The fields of the rows in a page or in totals; undefined for any other type. */
  rowFieldsOf(type: string | undefined): readonly FieldDefinitionNode[] | undefined {
    const rows = this.rowTypeOf(type);
    return rows === undefined ? undefined : this.fieldsOf(rows);
  }

  inputFieldsOf(type: string): readonly InputValueDefinitionNode[] {
    return this.#inputs.get(type) ?? [];
  }

  get inputTypes(): readonly string[] {
    return [...this.#inputs.keys()];
  }

  /** Whether a type is an input type, which is an object in JSON. */
  isInputObject(type: string): boolean {
    return this.#inputs.has(type);
  }

  enumValuesOf(type: string): readonly EnumValueDefinitionNode[] {
    return this.#enums.get(type) ?? [];
  }

  /** The default of an operation's argument, from @constraint. @throws Error if it has none */
  defaultOf(operation: string, argument: string): number {
    const value = defaultIn(this.rootField(operation), argument);
    if (value === undefined) throw new Error(`${operation}(${argument}:) has no default`);
    return value;
  }
}

/** The default of a field's argument, from @constraint; undefined if it has none. */
export function defaultIn(field: FieldDefinitionNode | undefined, argument: string): number | undefined {
  const node = field?.arguments?.find(({ name }) => name.value === argument);
  return directiveOf(node, 'constraint')?.default;
}

/** The parts of nodes by name; a type has those of its extensions, too. */
function byName<Node extends { readonly name: NameNode }, T>(
  nodes: readonly Node[],
  partsOf: (node: Node) => readonly T[] | undefined,
): ReadonlyMap<string, readonly T[]> {
  const all = new Map<string, readonly T[]>();
  for (const node of nodes) {
    const { value: name } = node.name;
    all.set(name, [...(all.get(name) ?? []), ...(partsOf(node) ?? [])]);
  }
  return all;
}

export function isListType(type: TypeNode): boolean {
  return type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isListType(type.type));
}

/** Name of the types of pages: a page of quotes is a QuotePage. */
export const PAGE = 'Page';
/** The member of a page with its rows. */
export const ROWS = 'data';

/** Type name of a list's pages: a list in this sense returns a page, not a GraphQL list. Undefined if the field is none. */
export function pageOf({ type }: FieldDefinitionNode): string | undefined {
  const name = namedType(type);
  return name.endsWith(PAGE) && !isListType(type) ? name : undefined;
}

/** Type name of a list's rows, from the name of its page: QuotePage → Quote; undefined if the field is not a list. */
export function rowName(field: FieldDefinitionNode): string | undefined {
  return pageOf(field)?.slice(0, -PAGE.length);
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
  readonly object_types: object;
  readonly graphql_only: { readonly on: OmittedFrom; readonly include?: string };
  readonly constraint: Constraint;
  readonly filter: { readonly member?: string; readonly by: FilterBy; readonly members?: readonly string[] };
  readonly per_element: object;
  readonly stored: {
    readonly collection: string;
    readonly unique?: string;
    readonly retired_indexes?: readonly string[];
  };
  readonly index: { readonly on: readonly string[]; readonly name?: string };
  readonly default: { readonly value: unknown } | { readonly from: 'ORGANISATION_CURRENCY' };
  readonly ignored: object;
  readonly searchable: object;
  readonly personal: { readonly erased: boolean };
  readonly restricted: { readonly by: string };
  readonly totals: { readonly of: string; readonly at: string };
  readonly aggregates: object;
  readonly sunset: { readonly since: string; readonly on: string };
  readonly deprecated: object;
  readonly mcp: McpTool;
  readonly untrusted: object;
}

/** How an operation is offered as a tool (@mcp). */
export interface McpTool {
  readonly fields?: readonly string[];
  readonly limit?: number;
  readonly destructive: boolean;
  readonly idempotent: boolean;
}

/** The arguments of @constraint. */
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

/** Where REST omits a field: the values of GraphqlOnly. */
export type OmittedFrom = 'LISTS' | 'EVERYWHERE' | 'UNLESS_INCLUDED';

/** How filters compare: the values of FilterBy. */
export const FILTER_KINDS = ['EQUALS', 'SINCE', 'BEFORE', 'WORDS', 'EMAIL', 'METADATA'] as const;
export type FilterBy = (typeof FILTER_KINDS)[number];

/** Formats of strings that constraints can name; schema/validation.ts checks each. */
export const FORMATS: readonly string[] = ['email', 'currency', 'known-currency', 'organisation', 'customer'];

/**
 * The arguments of a directive as plain values, with the defaults that schema/base.graphql gives them; undefined if the node lacks it. Of a
 * directive that repeats (@index) only the first.
 */
export function directiveOf<Name extends keyof Directives>(
  node: { readonly directives?: readonly ConstDirectiveNode[] } | null | undefined,
  name: Name,
): Directives[Name] | undefined {
  const directive = node?.directives?.find((candidate) => candidate.name.value === name);
  if (!directive) return undefined;
  const cachedValues = directiveValues.get(directive);
  if (cachedValues) return cachedValues as Directives[Name];
  const { defaults, lists } = directiveDefinitions().get(name) ?? { defaults: {}, lists: new Set() };
  // the way GraphQL reads them: null counts as omitted, and a single value as a list of one
  const entries = (directive.arguments ?? []).flatMap((argument) => {
    const value: unknown = valueFromASTUntyped(argument.value);
    if (value === null) return [];
    return [[argument.name.value, lists.has(argument.name.value) && !Array.isArray(value) ? [value] : value] as const];
  });
  const values = { ...defaults, ...Object.fromEntries(entries) };
  directiveValues.set(directive, values);
  // the checks at start-up reject missing and unknown arguments
  return values as Directives[Name];
}

/** Cached, because the checks at start-up read each directive many times. */
const directiveValues = new WeakMap<ConstDirectiveNode, object>();

/** The defaults of a directive's arguments, and which arguments are lists. */
interface Definition {
  readonly defaults: object;
  readonly lists: ReadonlySet<string>;
}

let definitions: ReadonlyMap<string, Definition> | undefined;

function directiveDefinitions(): ReadonlyMap<string, Definition> {
  return (definitions ??= new Map(
    loadDocument()
      .definitions.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION)
      .map(({ name, arguments: args = [] }) => {
        const defaults = args.flatMap((argument) =>
          argument.defaultValue ? [[argument.name.value, valueFromASTUntyped(argument.defaultValue)] as const] : [],
        );
        const lists = args.filter(({ type }) => isListType(type)).map((argument) => argument.name.value);
        return [name.value, { defaults: Object.fromEntries(defaults), lists: new Set(lists) }];
      }),
  ));
}
