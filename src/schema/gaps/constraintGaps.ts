import {
  type DocumentNode,
  type GraphQLSchema,
  isInputType,
  Kind,
  print,
  typeFromAST,
  type TypeNode,
  valueFromAST,
} from 'graphql';
import { type FieldPlace, type InputPlace, placesOf } from './places';
import { type Constraint, directiveOf, isListType, namedType } from '../sdl';
import { sentences } from './sentences';
import { isTextFormat } from '../validation';

/* Finds constraints that bound nothing, that nothing meets, or that no check could be made of. */

type Bound = keyof Constraint;

/** One message per gap, with what to change where. */
export function constraintGaps(document: DocumentNode, schema: GraphQLSchema): string[] {
  const { inputs, fields } = placesOf(document);
  return [...inputs, ...fields.filter(({ kind }) => kind === 'member')].flatMap((place) => {
    const constraint = directiveOf(place.node, 'constraint') ?? {};
    if (Object.keys(constraint).length === 0) return [];
    const found = [
      ...effectGaps(place, constraint),
      ...orderGaps(constraint),
      ...rangeGaps(constraint, namedType(place.node.type)),
      ...textGaps(constraint),
      ...valueGaps(constraint, defaultOf(place, schema)),
    ];
    return found.map((gap) => `${place.name} ${gap}`);
  });
}

/** The default of an argument or input field, as the schema writes it after =. */
function defaultOf({ node }: InputPlace | FieldPlace, schema: GraphQLSchema): unknown {
  if (!('defaultValue' in node)) return undefined;
  const type = typeFromAST(schema, node.type);
  return isInputType(type) ? valueFromAST(node.defaultValue, type) : undefined;
}

const TEXTS = ['String', 'ID', 'DateTime', 'Date'];
const NUMBERS = ['Int', 'Float', 'Minor'];
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

function effectGaps(place: InputPlace | FieldPlace, constraint: Constraint): string[] {
  const { kind, node } = place;
  const [taken, type] = [effective(node.type), print(node.type)];
  const isMember = kind === 'member';
  const isAlwaysGiven = node.type.kind === Kind.NON_NULL_TYPE && !('defaultValue' in node && node.defaultValue);
  const of = 'of' in place ? place.of : undefined;
  const isUnchecked = of?.kind === 'member' && !directiveOf(of.node, 'access');
  const ofBounds = (Object.keys(constraint) as Bound[]).flatMap((one) => {
    const bound = `has @constraint(${one}:)`;
    const isOfInput = OF_INPUT.includes(one);
    if (isMember && isOfInput)
      return [`${bound}, which is for input: remove it${one === 'default' ? '' : ', or add !'}`];
    if (!taken.includes(one)) return [`${bound}, which has no effect on ${type}: remove it`];
    return sentences(
      kind === 'argument' &&
        one === 'required' &&
        !isAlwaysGiven &&
        `${bound}, which is for fields of input types: write ${type}!`,
      isOfInput && isAlwaysGiven && `${bound}, but ${type} is always given: remove one of them`,
    );
  });
  return [
    ...ofBounds,
    ...sentences(
      isUnchecked &&
        'has @constraint, but only fields with @access have their arguments checked: add it to the field, or remove this',
    ),
  ];
}

const PAIRS: readonly (readonly [Bound, Bound])[] = [
  ['min', 'max'],
  ['min_length', 'max_length'],
  ['min_items', 'max_items'],
];

function orderGaps(constraint: Constraint): string[] {
  return PAIRS.flatMap(([least, most]) => {
    const [from, to] = [constraint[least] as number | undefined, constraint[most] as number | undefined];
    const isLength = least !== 'min';
    return sentences(
      from !== undefined &&
        to !== undefined &&
        from > to &&
        `has @constraint(${least}: ${String(from)}, ${most}: ${String(to)}), which nothing meets: change one of them`,
      ...(isLength ? [least, most] : []).map((bound) => {
        const length = constraint[bound] as number | undefined;
        return length !== undefined && length < 0 && `has @constraint(${bound}: ${String(length)}): write 0 or more`;
      }),
    );
  });
}

/** The numbers of a type. A bound beyond them would replace their own. */
const RANGES: ReadonlyMap<string, readonly [least: number, most: number]> = new Map([
  ['Int', [-(2 ** 31), 2 ** 31 - 1]],
  ['Minor', [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]],
]);

function rangeGaps({ min, max }: Constraint, type: string): string[] {
  const [least, most] = RANGES.get(type) ?? [-Infinity, Infinity];
  return sentences(
    min !== undefined && min < least && `has @constraint(min: ${String(min)}), less than any ${type}: remove it`,
    max !== undefined && max > most && `has @constraint(max: ${String(max)}), more than any ${type}: remove it`,
  );
}

function textGaps({ pattern, format, one_of: values }: Constraint): string[] {
  const isFormat = format === undefined || isTextFormat(format);
  return sentences(
    pattern !== undefined &&
      regexpOf(pattern) === undefined &&
      `has @constraint(pattern: "${pattern}"), which is not a regular expression: correct it`,
    !isFormat && `has @constraint(format: "${format}"), which nothing checks: use email, currency or known-currency`,
    values?.length === 0 && 'has @constraint(one_of: []), which nothing meets: name the values',
  );
}

/** With the flag that ajv gives it. */
function regexpOf(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return undefined;
  }
}

function valueGaps(constraint: Constraint, fallback: unknown): string[] {
  const { default: otherwise, one_of: values, ...bounds } = constraint;
  const asRefused = (value: unknown, by: Constraint, words: string): string[] => {
    const bound = refusal(value, by);
    return bound === undefined ? [] : [`has ${words}, which its ${bound} refuses: change one of them`];
  };
  return [
    ...(values ?? []).flatMap((value) => asRefused(value, bounds, `@constraint(one_of:) with "${value}"`)),
    ...asRefused(otherwise, bounds, `@constraint(default: ${String(otherwise)})`),
    ...asRefused(fallback, { ...bounds, ...(values && { one_of: values }) }, `the default ${JSON.stringify(fallback)}`),
    ...sentences(
      otherwise !== undefined &&
        fallback !== undefined &&
        otherwise !== fallback &&
        `has the default ${JSON.stringify(fallback)} and @constraint(default: ${String(otherwise)}): remove one of them`,
    ),
  ];
}

/** The bound that refuses a value, or one in it. */
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
