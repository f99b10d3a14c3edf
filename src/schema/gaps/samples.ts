import { type DocumentNode, type InputValueDefinitionNode, Kind, type TypeNode } from 'graphql';
import { type Constraint, directiveOf, enumValuesOf, inputFieldsOf, keptOf, namedType } from '../sdl';
import type { StoredMember } from '../storedTypes';

/* Values of the types of a schema, to try code with: two of each, which differ. */

export type Variant = 0 | 1;
/** Whether a sample has a member, by how deep it is; 0 in the element itself. */
export type Members = (member: InputValueDefinitionNode, depth: number) => boolean;

export const everyMember: Members = () => true;
/** Members of nested objects that are made and not given. */
export const NESTED_OWN: readonly string[] = ['id'];
/** Deeper objects are left out, since inputs may contain themselves. */
const DEEPEST = 4;

const PAIRS: Readonly<Record<string, readonly [unknown, unknown]>> = {
  ID: ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'],
  String: ['one', 'other'],
  Date: ['2026-11-21', '2026-11-22'],
  DateTime: ['2026-11-21T09:00:00.000Z', '2026-11-22T09:00:00.000Z'],
  Boolean: [true, false],
};
const FORMATTED: Readonly<Record<string, readonly [string, string]>> = {
  email: ['one@example.com', 'other@example.com'],
  currency: ['EUR', 'USD'],
  'known-currency': ['EUR', 'USD'],
};

/** Whether an element must have a member: always, or if its object is new. */
export function isNeeded(member: InputValueDefinitionNode): boolean {
  const { required, not_null: notNull } = directiveOf(member, 'constraint') ?? {};
  return member.type.kind === Kind.NON_NULL_TYPE || required === true || notNull === true;
}

interface Sampling {
  readonly has: Members;
  /** By the path of a value in the element. */
  readonly variantOf: (path: string) => Variant;
}

/** An element of an input type. */
export function sampleElement(document: DocumentNode, type: string, how: Sampling): object {
  return objectOf(document, type, how, '', 0);
}

/** A member of an input type, with what is asked of it for each sample. */
interface Described {
  readonly member: InputValueDefinitionNode;
  readonly name: string;
  /** Its input type, if it is an object or a list of objects. */
  readonly object: string | undefined;
  readonly values: readonly [unknown, unknown];
}

const described = keptOf(() => new Map<string, readonly Described[]>());

function membersOf(document: DocumentNode, type: string): readonly Described[] {
  const known = described(document).get(type);
  if (known) return known;
  const found = inputFieldsOf(document, type).map((member): Described => {
    const inner = namedType(member.type);
    const constraint = directiveOf(member, 'constraint');
    const object = inputFieldsOf(document, inner).length > 0 ? inner : undefined;
    const values = [valueOf(document, inner, constraint, 0), valueOf(document, inner, constraint, 1)] as const;
    return { member, name: member.name.value, object, values };
  });
  described(document).set(type, found);
  return found;
}

function objectOf(document: DocumentNode, type: string, how: Sampling, at: string, depth: number): object {
  const made: Record<string, unknown> = {};
  for (const { member, name, object, values } of membersOf(document, type)) {
    if (!how.has(member, depth) || (object !== undefined && depth === DEEPEST)) continue;
    const path = at === '' ? name : `${at}.${name}`;
    const one = object === undefined ? values[how.variantOf(path)] : objectOf(document, object, how, path, depth + 1);
    made[name] = listed(member.type, one);
  }
  return made;
}

function listed(type: TypeNode, one: unknown): unknown {
  if (type.kind === Kind.NON_NULL_TYPE) return listed(type.type, one);
  return type.kind === Kind.LIST_TYPE ? [listed(type.type, one)] : one;
}

function valueOf(document: DocumentNode, type: string, constraint: Constraint = {}, variant: Variant): unknown {
  const { one_of: allowed, min = 0, format } = constraint;
  const values = allowed ?? enumValuesOf(document, type).map(({ name }) => name.value);
  if (values.length > 0) return values[variant] ?? values[0];
  const pair = FORMATTED[format ?? ''] ?? PAIRS[type];
  return pair ? pair[variant] : min + 1 + variant;
}

export interface Leaf {
  /** In the element: `billing_address.city`. */
  readonly path: string;
  /** The member of the element that contains it. */
  readonly top: string;
  /** Its input type and name. */
  readonly place: string;
}

/** The values in an element that have no members, except ids of nested objects, which are made. */
export function leavesOf(document: DocumentNode, type: string, at = '', depth = 0): Leaf[] {
  return membersOf(document, type).flatMap(({ name, object, values: [one, other] }) => {
    const path = at === '' ? name : `${at}.${name}`;
    if (object !== undefined) return depth === DEEPEST ? [] : leavesOf(document, object, path, depth + 1);
    const isOwn = depth > 0 && NESTED_OWN.includes(name);
    return isOwn || one === other ? [] : [{ path, top: path.split('.', 1).join(''), place: `${type}.${name}` }];
  });
}

/** A row with every member of a stored type. */
export function storedSample(document: DocumentNode, members: readonly StoredMember[], variant: Variant): object {
  return Object.fromEntries(
    members.map(({ name, kind, type, isList, members: inner }) => {
      const text = inner.length > 0 ? storedSample(document, inner, variant) : valueOf(document, type, {}, variant);
      const one = kind === 'date' ? new Date(String(text)) : text;
      return [name, isList ? [one] : one];
    }),
  );
}
