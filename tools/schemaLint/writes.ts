import { type FieldDefinitionNode, type InputValueDefinitionNode, Kind, print } from 'graphql';
import { errorsAt, type SchemaError } from '../../src/schema/checks/errors';
import { IF_MATCH } from '../../src/schema/entityTags';
import { type Constraint, directiveOf, isListType, namedType } from '../../src/schema/sdl';
import type { Model, Rules } from './model';

/* Inputs that do not fit what they are stored as, and bulk calls. */

const LOWER = ['min', 'min_length', 'min_items'] as const;
const UPPER = ['max', 'max_length', 'max_items'] as const;
/** By format: the other formats whose values it also allows. */
const CONTAINED: Readonly<Record<string, readonly string[]>> = { 'known-currency': ['currency'] };
/** What a bulk call takes besides its list. */
const OPTIONS = ['atomic', 'dry_run'];

/** The bounds of a stored value that an input does not meet. With `isAmended`, code may replace a value below a lower bound. */
function looserBounds(given: Constraint, wanted: Constraint, isAmended: boolean): string[] {
  const { pattern, format, one_of: values } = wanted;
  const below = LOWER.filter((name) => wanted[name] !== undefined && !((given[name] ?? -Infinity) >= wanted[name]));
  const above = UPPER.filter((name) => wanted[name] !== undefined && !((given[name] ?? Infinity) <= wanted[name]));
  const isOfFormat = given.format === format || (CONTAINED[format ?? ''] ?? []).includes(given.format ?? '');
  const isListed = given.one_of?.every((value) => values?.includes(value)) ?? false;
  return [
    ...[...(isAmended ? [] : below), ...above].map((name) => `${name}: ${String(wanted[name])}`),
    ...(!isAmended && pattern !== undefined && given.pattern !== pattern
      ? [`pattern: ${JSON.stringify(pattern)}`]
      : []),
    ...(format !== undefined && !isOfFormat ? [`format: "${format}"`] : []),
    ...(values !== undefined && !isListed ? [`one_of: ${JSON.stringify(values)}`] : []),
  ];
}

/** Finds how an input differs from the stored field of the same name. */
function memberErrors(
  model: Model,
  place: string,
  member: InputValueDefinitionNode,
  type: string,
  field: FieldDefinitionNode,
  isAmended = false,
): SchemaError[] {
  const { sdl } = model;
  const [given, wanted] = [namedType(member.type), namedType(field.type)];
  const [stored, isObject] = [`${type}.${field.name.value}`, sdl.fieldsOf(wanted).length > 0];
  const isSameType = isObject ? sdl.isInputObject(given) : given === wanted;
  if (!isSameType || isListType(member.type) !== isListType(field.type))
    return errorsAt(
      member,
      `${place} is ${print(member.type)}, but ${stored} is ${print(field.type)}: use the same type`,
    );
  const [own, other] = [directiveOf(member, 'constraint') ?? {}, directiveOf(field, 'constraint') ?? {}];
  return [
    ...errorsAt(
      member,
      ...looserBounds(own, other, isAmended).map(
        (bound) => `${place} takes what ${stored} excludes with ${bound}: write the same bound`,
      ),
    ),
    ...(isObject ? inputErrors(model, given, wanted) : []),
  ];
}

function inputErrors(model: Model, input: string, type: string): SchemaError[] {
  return model.sdl.inputFieldsOf(input).flatMap((member) => {
    const field = model.sdl.fieldsOf(type).find(({ name }) => name.value === member.name.value);
    return field ? memberErrors(model, `${input}.${member.name.value}`, member, type, field) : [];
  });
}

/** The arguments of a write that are members of the stored object that it returns, each with the field of that member. */
function membersOf({ sdl }: Model, { type, arguments: args = [] }: FieldDefinitionNode) {
  const stored = sdl.stored.get(namedType(type));
  return args.flatMap((argument) => {
    const { value: name } = argument.name;
    const isMember = name !== IF_MATCH && stored?.members.some((member) => member.name === name);
    const field = isMember ? sdl.fieldsOf(stored?.type).find((one) => one.name.value === name) : undefined;
    return stored && field ? [{ argument, field, stored }] : [];
  });
}

const isChange = (method = ''): boolean => method === 'PATCH' || method === 'PUT';

export const WRITES: Rules = {
  'input-type': {
    schema: (model) => [
      ...model.sdl.upserts.flatMap(({ element, stored }) => inputErrors(model, element, stored.type)),
      ...model.roots.flatMap(({ kind, node, name }) => {
        const { method, path = '' } = directiveOf(node, 'rest') ?? {};
        return membersOf(model, node)
          .filter(({ argument }) => kind === 'mutation' && !path.split('/').includes(`:${argument.name.value}`))
          .flatMap(({ argument, field, stored }) =>
            memberErrors(model, `${name}(${argument.name.value}:)`, argument, stored.type, field, !isChange(method)),
          );
      }),
    ],
  },
  'change-null': {
    route: ({ method, path, node }, model) =>
      membersOf(model, node)
        .filter(({ argument }) => isChange(method) && !path.split('/').includes(`:${argument.name.value}`))
        .flatMap(({ argument, field, stored }) => {
          const { required = false, not_null: notNull = false } = directiveOf(argument, 'constraint') ?? {};
          const isRequired = argument.type.kind === Kind.NON_NULL_TYPE || required;
          const name = argument.name.value;
          // the merge decides what null means, as in a bulk call
          const isMerged = model.sdl.upserts.some(({ change }) => change === node.name.value);
          return [
            method === 'PATCH' &&
              isRequired &&
              `requires ${name}, but a PATCH takes only what changes: make it nullable, with @constraint(not_null: true) if null is not a value`,
            !isRequired &&
              !notNull &&
              !isMerged &&
              field.type.kind === Kind.NON_NULL_TYPE &&
              `takes null for ${name}, but ${stored.type}.${name} is never null: add @constraint(not_null: true)`,
          ];
        }),
  },
  'change-scope': {
    route: ({ method, node }, { roots, sdl }) => {
      const bulk = sdl.upserts.find(({ stored }) => stored.type === namedType(node.type));
      const other = roots.find((one) => one.node.name.value === bulk?.operation);
      if (!bulk || !other || !isChange(method)) return [];
      const [own, wanted] = [node, other.node].map((one) => String(directiveOf(one, 'access')?.scope));
      return [
        own !== wanted &&
          `has the scope ${String(own)}, but ${other.name} changes each ${bulk.stored.type} with ${String(wanted)}: use the same scope`,
      ];
    },
  },
  'bulk-none': {
    root: ({ owner, node }, { resolvers, sdl }) => [
      resolvers[owner]?.[node.name.value]?.merge &&
        !sdl.upserts.some(({ operation }) => operation === node.name.value) &&
        'upserts a list of elements, but has none: name an argument as the collection with @per_element, and the key as @stored(unique:)',
    ],
  },
  'bulk-arguments': {
    upsert: ({ operation, list }, { roots }) =>
      (roots.find(({ node }) => node.name.value === operation)?.node.arguments ?? []).map(
        ({ name: { value: name }, type }) => {
          if (name === list) return false;
          if (!OPTIONS.includes(name)) return `takes ${name}, but a bulk call takes ${[list, ...OPTIONS].join(', ')}`;
          return namedType(type) !== 'Boolean' && `takes ${name} as ${print(type)}: write Boolean`;
        },
      ),
  },
  'bulk-key': {
    upsert: ({ element, key, list }, { sdl }) => {
      const member = sdl.inputFieldsOf(element).find(({ name }) => name.value === key);
      const by = `${element}.${key}, by which ${list} are matched,`;
      if (!member) return [`has no ${by} in its elements: add it with @constraint(required: true)`];
      const isRequired = directiveOf(member, 'constraint')?.required === true;
      const isText = namedType(member.type) === 'String';
      return [
        !isText && `has ${by} as ${print(member.type)}: write String, or name another in @stored(unique:)`,
        !isRequired &&
          member.type.kind !== Kind.NON_NULL_TYPE &&
          `has ${by} but is optional: add @constraint(required: true)`,
      ];
    },
  },
};
