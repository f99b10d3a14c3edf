import { type ConstValueNode, Kind, print, type TypeNode, valueFromASTUntyped } from 'graphql';
import { type Constraint, directiveOf, isListType, namedType, type Sdl } from '../../src/schema/sdl';
import { createAjv } from '../../src/schema/validation';
import type { Found, Rules } from './model';
import type { FieldPlace, InputPlace } from './places';

/* Constraints that have no effect, that no value meets, or that cannot be checked. */

type Bound = keyof Constraint;
type Bounded = FieldPlace | InputPlace;

const TEXTS = ['String', 'ID', 'DateTime', 'Date'];
const NUMBERS = ['Int', 'Float', 'Minor'];
/** The formats of strings. ajv accepts any string if the format is unknown or `true`. */
const { formats: FORMATS } = createAjv();
const OF_INPUT: readonly Bound[] = ['required', 'not_null', 'default'];

/** The bounds that have an effect on values of a type, as src/schema/jsonSchema.ts writes them. */
function effective(type: TypeNode): readonly Bound[] {
  const named = namedType(type);
  const ofTexts: readonly Bound[] = TEXTS.includes(named) ? ['min_length', 'max_length', 'one_of'] : [];
  if (isListType(type)) return ['required', 'not_null', 'min_items', 'max_items', ...ofTexts];
  const ofString: readonly Bound[] = named === 'String' ? ['format'] : [];
  const ofNumbers: readonly Bound[] = NUMBERS.includes(named) ? ['min', 'max', 'default'] : [];
  const ofScalars: readonly Bound[] = ofTexts.length > 0 ? ['pattern'] : [];
  return ['required', 'not_null', ...ofTexts, ...ofScalars, ...ofString, ...ofNumbers];
}

function constraintOf({ node }: Bounded): Constraint {
  return directiveOf(node, 'constraint') ?? {};
}

/** A rule about the constraint of an argument, an input field or a member. */
function bounded(says: (place: Bounded, constraint: Constraint) => Found) {
  const visit = (place: Bounded): Found => {
    const constraint = constraintOf(place);
    return Object.keys(constraint).length === 0 ? [] : says(place, constraint);
  };
  return { input: visit, field: (place: FieldPlace) => (place.kind === 'member' ? visit(place) : []) };
}

const PAIRS = [
  ['min', 'max'],
  ['min_length', 'max_length'],
  ['min_items', 'max_items'],
] as const;

/** The regular expression, with the flag that ajv uses. */
function regexpOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

/** The bound that refuses a value, or an element of it. */
function refusal(value: unknown, constraint: Constraint): Bound | undefined {
  const { min = -Infinity, max = Infinity, min_length = 0, max_length = Infinity } = constraint;
  const { min_items = 0, max_items = Infinity, one_of: values, pattern } = constraint;
  if (Array.isArray(value)) {
    if (value.length < min_items) return 'min_items';
    if (value.length > max_items) return 'max_items';
    return value.map((one) => refusal(one, constraint)).find((bound) => bound !== undefined);
  }
  if (typeof value === 'number') return value < min ? 'min' : value > max ? 'max' : undefined;
  if (typeof value !== 'string') return undefined;
  const { length } = Array.from(value);
  if (length < min_length) return 'min_length';
  if (length > max_length) return 'max_length';
  if (values && !values.includes(value)) return 'one_of';
  return pattern !== undefined && regexpOf(pattern)?.test(value) === false ? 'pattern' : undefined;
}

function refused(value: unknown, by: Constraint, words: string): string | false {
  const bound = value === undefined ? undefined : refusal(value, by);
  return bound !== undefined && `has ${words}, which its ${bound} refuses: change one of them`;
}

function defaultOf({ node }: Bounded): ConstValueNode | undefined {
  return 'defaultValue' in node ? node.defaultValue : undefined;
}

/** An input type, and the input types inside it. */
function typesIn(sdl: Sdl, type: string, found: string[] = []): string[] {
  if (!sdl.isInputObject(type) || found.includes(type)) return found;
  found.push(type);
  for (const field of sdl.inputFieldsOf(type)) typesIn(sdl, namedType(field.type), found);
  return found;
}

export const CONSTRAINTS: Rules = {
  'constraint-effect': bounded((place, constraint) => {
    const { kind, node } = place;
    const [taken, type] = [effective(node.type), print(node.type)];
    const isAlwaysGiven = node.type.kind === Kind.NON_NULL_TYPE && !defaultOf(place);
    return (Object.keys(constraint) as Bound[]).map((one) => {
      const [bound, isOfInput] = [`has @constraint(${one}:)`, OF_INPUT.includes(one)];
      if (kind === 'member' && isOfInput)
        return `${bound}, which is for input: remove it${one === 'default' ? '' : ', or add !'}`;
      if (!taken.includes(one)) return `${bound}, which has no effect on ${type}: remove it`;
      if (kind === 'argument' && one === 'required' && !isAlwaysGiven)
        return `${bound}, which is for fields of input types: write ${type}!`;
      return isOfInput && isAlwaysGiven && `${bound}, but ${type} is always given: remove one of them`;
    });
  }),
  'constraint-unchecked': {
    input: (place) => [
      directiveOf(place.node, 'constraint') &&
        place.of?.kind === 'member' &&
        !directiveOf(place.of.node, 'access') &&
        'has @constraint, but only fields with @access have their arguments checked: add @access to the field, or remove @constraint',
    ],
  },
  'constraint-order': bounded((_place, constraint) =>
    PAIRS.map(([least, most]) => {
      const { [least]: from = -Infinity, [most]: to = Infinity } = constraint;
      const bounds = `${least}: ${String(from)}, ${most}: ${String(to)}`;
      return from > to && `has @constraint(${bounds}), which no value meets: change one of them`;
    }),
  ),
  'constraint-text': bounded((_place, { pattern, format, one_of: values }) => [
    pattern !== undefined &&
      !regexpOf(pattern) &&
      `has @constraint(pattern: "${pattern}"), which is not a regular expression: correct it`,
    format !== undefined &&
      [undefined, true].includes(FORMATS[format] as true | undefined) &&
      `has @constraint(format: "${format}"), which nothing checks: use email, currency or known-currency`,
    values?.length === 0 && 'has @constraint(one_of: []), which no value meets: name the values',
  ]),
  'constraint-default': bounded((place, constraint) => {
    const { default: otherwise, one_of: values, ...bounds } = constraint;
    const node = defaultOf(place);
    const fallback: unknown = node && valueFromASTUntyped(node);
    return [
      ...(values ?? []).map((value) => refused(value, bounds, `@constraint(one_of:) with "${value}"`)),
      refused(otherwise, bounds, `@constraint(default: ${String(otherwise)})`),
      refused(fallback, { ...bounds, ...(values && { one_of: values }) }, `the default ${JSON.stringify(fallback)}`),
      otherwise !== undefined &&
        fallback !== undefined &&
        otherwise !== fallback &&
        `has the default ${JSON.stringify(fallback)} and @constraint(default: ${String(otherwise)}): remove one of them`,
    ];
  }),
  'element-argument': {
    input: ({ node: { type, ...node }, of }, { sdl }) => {
      if (!of || !directiveOf(node, 'per_element')) return [];
      if (of.kind !== 'mutation') return ['has @per_element, which is for arguments of Mutation: remove it'];
      const [isList, isOfInputs] = [isListType(type), sdl.isInputObject(namedType(type))];
      const isRight = type.kind === Kind.NON_NULL_TYPE && isList && isOfInputs;
      const wanted = `[${isOfInputs ? namedType(type) : 'Input'}!]!`;
      return [!isRight && `has @per_element but is ${print(type)}: its elements are objects, as ${wanted}`];
    },
  },
  // the bounds of elements are not those of the request
  'element-type': {
    input: (place, { sdl, inputs }) => {
      if (!place.of || directiveOf(place.node, 'per_element')) return [];
      const bulk = inputs.filter(({ node }) => directiveOf(node, 'per_element'));
      return typesIn(sdl, namedType(place.node.type)).map((type) => {
        const isBounded = sdl.inputFieldsOf(type).some((field) => directiveOf(field, 'constraint'));
        const other = bulk.find(({ node }) => typesIn(sdl, namedType(node.type)).includes(type));
        return (
          isBounded &&
          other &&
          `takes ${type}, whose @constraint is checked only in elements of ${other.name}: give it an input type of its own`
        );
      });
    },
  },
};
