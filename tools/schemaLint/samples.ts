import { type InputValueDefinitionNode, Kind } from 'graphql';
import { type Constraint, directiveOf, isListType, namedType, type Sdl } from '../../src/schema/sdl';
import type { StoredMember } from '../../src/schema/storedTypes';

/* Two different values of each type, to try code with. */

type Variant = 0 | 1;
type Sample = Readonly<Record<string, unknown>>;

/** Members of nested objects that are generated. */
export const NESTED_OWN: readonly string[] = ['id'];
/** Deeper objects are left out, since inputs may contain themselves. */
const DEEPEST = 4;

const PAIRS: Readonly<Record<string, readonly [unknown, unknown]>> = {
  ID: ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'],
  String: ['one', 'other'],
  Date: ['2026-11-21', '2026-11-22'],
  DateTime: ['2026-11-21T09:00:00.000Z', '2026-11-22T09:00:00.000Z'],
  Boolean: [true, false],
  email: ['one@example.com', 'other@example.com'],
  currency: ['EUR', 'USD'],
  'known-currency': ['EUR', 'USD'],
};

function valueOf(sdl: Sdl, type: string, variant: Variant, constraint: Constraint = {}): unknown {
  const { one_of: allowed, min = 0, format = '' } = constraint;
  const values = allowed ?? sdl.enumValuesOf(type).map(({ name }) => name.value);
  if (values.length > 0) return values[variant] ?? values[0];
  const pair = PAIRS[format] ?? PAIRS[type];
  return pair ? pair[variant] : min + 1 + variant;
}

/** Whether an element must have a member: always, or if its object is new. */
export function isNeeded(member: InputValueDefinitionNode): boolean {
  const { required, not_null: notNull } = directiveOf(member, 'constraint') ?? {};
  return member.type.kind === Kind.NON_NULL_TYPE || required === true || notNull === true;
}

/** An element of an input type, with the members that `has` picks. `depth` is 0 in the element itself. */
export function sampleElement(
  sdl: Sdl,
  type: string,
  has: (member: InputValueDefinitionNode, depth: number) => boolean,
  depth = 0,
): Sample {
  const members = sdl.inputFieldsOf(type).filter((member) => has(member, depth));
  return Object.fromEntries(
    members.flatMap((member) => {
      const inner = namedType(member.type);
      const isObject = sdl.isInputObject(inner);
      if (isObject && depth === DEEPEST) return [];
      const constraint = directiveOf(member, 'constraint');
      const one = isObject ? sampleElement(sdl, inner, has, depth + 1) : valueOf(sdl, inner, 0, constraint);
      return [[member.name.value, isListType(member.type) ? [one] : one]];
    }),
  );
}

interface Changed {
  /** The member that has another value: its input type and name. */
  readonly place: string;
  /** The member of the element that contains it. */
  readonly top: string;
  readonly element: Sample;
}

/** Copies of an element, each with another value in one member, including those of nested objects but not generated ids. */
export function changedElements(sdl: Sdl, type: string, element: Sample, depth = 0): Changed[] {
  return sdl.inputFieldsOf(type).flatMap((member): Changed[] => {
    const [name, inner] = [member.name.value, namedType(member.type)];
    const value = element[name];
    if (value === undefined || (depth > 0 && NESTED_OWN.includes(name))) return [];
    const one: unknown = Array.isArray(value) ? value[0] : value;
    const other = valueOf(sdl, inner, 1, directiveOf(member, 'constraint'));
    const changed = sdl.isInputObject(inner)
      ? changedElements(sdl, inner, one as Sample, depth + 1)
      : other === one
        ? []
        : [{ place: `${type}.${name}`, element: other }];
    return changed.map(({ place, element: inside }) => ({
      ...{ place, top: name },
      element: { ...element, [name]: Array.isArray(value) ? [inside] : inside },
    }));
  });
}

/** A row with every member of a stored type. */
export function storedSample(sdl: Sdl, members: readonly StoredMember[], variant: Variant): Sample {
  return Object.fromEntries(
    members.map(({ name, kind, type, isList, members: inner }) => {
      const text = inner.length > 0 ? storedSample(sdl, inner, variant) : valueOf(sdl, type, variant);
      const one = kind === 'dateTime' ? new Date(String(text)) : text;
      return [name, isList ? [one] : one];
    }),
  );
}
