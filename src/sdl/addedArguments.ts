import type {
  ConstDirectiveNode,
  DefinitionNode,
  FieldDefinitionNode,
  InputObjectTypeDefinitionNode,
  InputValueDefinitionNode,
  ObjectTypeDefinitionNode,
} from 'graphql';
import { Kind } from 'graphql/language/kinds';
import { parseConstValue, parseType } from 'graphql/language/parser';
import { visit } from 'graphql/language/visitor';
import { argumentText, directiveIn, namedType, nameOf, ROOTS } from './nodes';

/**
 * Adds to operations what GraphQL cannot extend: arguments of lists, from @filter on members, and of a PATCH, from the members that extensions add to the
 * elements of the bulk call. `extensions` are the nodes of members that the user's extensions of input types have.
 */
export function withAddedArguments(
  definitions: readonly DefinitionNode[],
  extensions: ReadonlySet<object>,
): DefinitionNode[] {
  const enums = new Set(definitions.flatMap((node) => (node.kind === Kind.ENUM_TYPE_DEFINITION ? nameOf(node) : [])));
  const types = definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION);
  const stored = new Map(types.flatMap((node) => (directiveIn(node, 'stored') ? [[nameOf(node), node] as const] : [])));
  const inputs = new Map(
    definitions.flatMap((node) =>
      node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ? [[nameOf(node), node] as const] : [],
    ),
  );
  /** By operation: the arguments to add. */
  const added = new Map<string, InputValueDefinitionNode[]>();
  for (const node of stored.values()) {
    const list = argumentText(directiveIn(node, 'stored'), 'collection') ?? '';
    const filters = (node.fields ?? []).filter((field) => directiveIn(field, 'filter'));
    added.set(
      list,
      filters.flatMap((field) => filterArguments(field, list, enums)),
    );
  }
  for (const [change, fields] of changesOf(definitions, stored, inputs, extensions)) added.set(change, fields);
  return definitions.map((node) => {
    const isRoot = node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
    if (!isRoot || !ROOTS.includes(nameOf(node))) return node;
    const fields = (node.fields ?? []).map((field) => {
      const more = added.get(field.name.value) ?? [];
      const names = new Set((field.arguments ?? []).map(({ name }) => name.value));
      // of a member that is there twice, which is an error of its own, only one argument is added
      const missingArguments = more.filter(({ name }) => !names.has(name.value) && names.add(name.value));
      return missingArguments.length === 0
        ? field
        : { ...field, arguments: [...(field.arguments ?? []), ...missingArguments] };
    });
    return { ...node, fields };
  });
}

/** The most values of an enum to filter by: as many as in the filters of built-in lists. */
const MOST_VALUES = '20';

/** The arguments of a list that @filter on a member of its rows stands for. */
function filterArguments(
  field: FieldDefinitionNode,
  list: string,
  enums: ReadonlySet<string>,
): InputValueDefinitionNode[] {
  const name = field.name.value;
  const type = namedType(field.type);
  const what = `${list.replaceAll('_', ' ')} with`;
  if (type === 'DateTime' || type === 'Date') {
    return [
      argument(field, `${name}_since`, type, `Only ${what} ${name} at or after this.`, [spanOf(name, 'SINCE')]),
      argument(field, `${name}_before`, type, `Only ${what} ${name} before this.`, [spanOf(name, 'BEFORE')]),
    ];
  }
  if (enums.has(type)) {
    const some = `Only ${what} one of these ${name} (on REST, repeat the parameter).`;
    return [
      argument(field, name, `[${type}!]`, some, [
        directive('constraint', 'max_items', MOST_VALUES),
        directive('filter'),
      ]),
    ];
  }
  const most = argumentText(directiveIn(field, 'constraint'), 'max_length');
  const bounds = most === undefined ? [] : [directive('constraint', 'max_length', most)];
  return [argument(field, name, type, `Only ${what} exactly this ${name}.`, [...bounds, directive('filter')])];
}

function spanOf(member: string, by: string): ConstDirectiveNode {
  const { arguments: args = [], ...span } = directive('filter', 'member', JSON.stringify(member));
  return { ...span, arguments: [...args, ...(directive('filter', 'by', by).arguments ?? [])] };
}

function directive(name: string, argumentName?: string, value = ''): ConstDirectiveNode {
  const args = argumentName === undefined ? [] : [[argumentName, value] as const];
  return {
    kind: Kind.DIRECTIVE,
    name: { kind: Kind.NAME, value: name },
    arguments: args.map(([argument, text]) => ({
      kind: Kind.ARGUMENT,
      name: { kind: Kind.NAME, value: argument },
      value: parseConstValue(text, { noLocation: true }),
    })),
  };
}

/** An argument that, with all its parts, has the location of the member that it follows from, so that errors name that line. */
function argument(
  { loc }: FieldDefinitionNode,
  name: string,
  type: string,
  description: string,
  directives: readonly ConstDirectiveNode[],
): InputValueDefinitionNode {
  const node: InputValueDefinitionNode = {
    kind: Kind.INPUT_VALUE_DEFINITION,
    description: { kind: Kind.STRING, value: description },
    name: { kind: Kind.NAME, value: name },
    type: parseType(type, { noLocation: true }),
    directives,
  };
  return loc ? visit(node, { enter: (child) => ({ ...child, loc }) }) : node;
}

/** For each PATCH of a type with a bulk call: the members that extensions add to the call's elements. */
function changesOf(
  definitions: readonly DefinitionNode[],
  stored: ReadonlyMap<string, ObjectTypeDefinitionNode>,
  inputs: ReadonlyMap<string, InputObjectTypeDefinitionNode>,
  extensions: ReadonlySet<object>,
): Map<string, InputValueDefinitionNode[]> {
  const mutations = definitions.flatMap((node) =>
    (node.kind === Kind.OBJECT_TYPE_EXTENSION || node.kind === Kind.OBJECT_TYPE_DEFINITION) &&
    nameOf(node) === 'Mutation'
      ? (node.fields ?? [])
      : [],
  );
  // the list argument of a bulk call has the name of the collection
  const elements = new Map(
    mutations.flatMap((field) =>
      (field.arguments ?? []).flatMap((argument) =>
        directiveIn(argument, 'per_element')
          ? [[argument.name.value, inputs.get(namedType(argument.type))] as const]
          : [],
      ),
    ),
  );
  const changes = mutations.filter((field) => argumentText(directiveIn(field, 'rest'), 'method') === 'PATCH');
  return new Map(
    changes.flatMap((field) => {
      const type = stored.get(namedType(field.type));
      const element = elements.get(argumentText(directiveIn(type, 'stored'), 'collection') ?? '');
      const set = (element?.fields ?? []).filter((member) => extensions.has(member) && !directiveIn(member, 'ignored'));
      return element ? [[field.name.value, set] as const] : [];
    }),
  );
}
