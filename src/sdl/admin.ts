import type { ConstDirectiveNode, DefinitionNode, FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { Kind } from 'graphql/language/kinds';
import { visit } from 'graphql/language/visitor';
import { argumentText, directiveIn, nameOf } from './nodes';

/*
 * schema/admin.graphql declares what signed-in users and operators do, in one list of operations. Each of the two schemas has a part of it, without
 * the arguments and directives that are for the other (docs/decisions/admin.md).
 */

export const ADMIN_FILE = 'admin.graphql';

/** The role in the SDL; not from auth/, which this room cannot import. */
const OPERATOR = 'OPERATOR';

interface Part {
  /** Extensions: of Query and Mutation with the part's operations, for operators also those of enums. */
  readonly operations: readonly DefinitionNode[];
  /** All types of the file, also those that the part does not use. */
  readonly types: readonly DefinitionNode[];
}

/** What signed-in users do, in the organisation of their session. */
export function usersPart(definitions: readonly DefinitionNode[]): readonly DefinitionNode[] {
  const { operations, types } = partOf(definitions, forUser);
  return [...referredTypes(operations, types), ...operations];
}

/** What operators do, in the organisation that they name. They alone get the file's enum extensions, which add their role to `Role`. */
export function operatorsPart(definitions: readonly DefinitionNode[]): Part {
  const { operations, types } = partOf(definitions, forOperator);
  return { operations: [...definitions.filter(({ kind }) => kind === Kind.ENUM_TYPE_EXTENSION), ...operations], types };
}

function partOf(
  definitions: readonly DefinitionNode[],
  forCaller: (field: FieldDefinitionNode) => FieldDefinitionNode | undefined,
): Part {
  return {
    operations: definitions.flatMap((node) => {
      if (node.kind !== Kind.OBJECT_TYPE_EXTENSION) return [];
      const fields = node.fields?.flatMap((field) => forCaller(field) ?? []) ?? [];
      return fields.length === 0 ? [] : { ...node, fields };
    }),
    types: definitions.filter((node) => !isExtension(node) && node.kind !== Kind.DIRECTIVE_DEFINITION),
  };
}

function forUser(field: FieldDefinitionNode): FieldDefinitionNode | undefined {
  if (roleOf(field) === OPERATOR) return undefined;
  const args = field.arguments?.filter((argument) => !namesOrganisation(argument)) ?? [];
  return {
    ...field,
    arguments: args.map((argument) => ({ ...argument, directives: without(argument.directives, 'users_only') })),
    directives: without(field.directives, 'rest'),
  };
}

function forOperator(field: FieldDefinitionNode): FieldDefinitionNode | undefined {
  if (!directiveIn(field, 'rest')) return undefined;
  return {
    ...field,
    arguments: field.arguments?.filter((argument) => !directiveIn(argument, 'users_only')) ?? [],
    directives: field.directives?.map(withRole) ?? [],
  };
}

/** @access with the role of operators in place of the users' role. */
function withRole(directive: ConstDirectiveNode): ConstDirectiveNode {
  if (directive.name.value !== 'access') return directive;
  const value = { kind: Kind.ENUM, value: OPERATOR } as const;
  const args = directive.arguments?.map((argument) =>
    argument.name.value === 'role' ? { ...argument, value } : argument,
  );
  return { ...directive, arguments: args ?? [] };
}

function roleOf(field: FieldDefinitionNode): string | undefined {
  return argumentText(directiveIn(field, 'access'), 'role');
}

/** Whether an argument names the organisation, which users have from their session. */
function namesOrganisation(argument: InputValueDefinitionNode): boolean {
  return argumentText(directiveIn(argument, 'constraint'), 'format') === 'organisation';
}

type Directives = readonly ConstDirectiveNode[] | undefined;

function without(directives: Directives, name: string): readonly ConstDirectiveNode[] {
  return directives?.filter((directive) => directive.name.value !== name) ?? [];
}

export const isExtension = ({ kind }: DefinitionNode): boolean => kind.endsWith('Extension');

/** Those of `types` that the definitions refer to, directly or through others, in the order of `types`. */
export function referredTypes(
  from: readonly DefinitionNode[],
  types: readonly DefinitionNode[],
): readonly DefinitionNode[] {
  const byName = new Map(types.map((node) => [nameOf(node), node]));
  const kept = new Set<DefinitionNode>();
  const reach = (node: DefinitionNode): void => {
    visit(node, {
      NamedType: ({ name }) => {
        const type = byName.get(name.value);
        if (!type || kept.has(type)) return;
        kept.add(type);
        reach(type);
      },
    });
  };
  from.forEach(reach);
  return types.filter((node) => kept.has(node));
}
