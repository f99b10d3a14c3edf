import type { FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { filterOf } from '../../schema/filters';
import type { SchemaModel } from '../../schema/model';
import { includeValue, omittedFrom } from '../../schema/restDocument';
import { type Constraint, directiveOf, isRootType } from '../../schema/sdl';
import type { StoredMember } from '../../schema/storedTypes';

/*
 * Changes of a schema that graphql-js does not see, since they are of directives: routes, scopes, limits, filters, defaults and whose objects
 * are; and which of them break callers.
 */

export interface Changes {
  readonly breaking: readonly string[];
  readonly safe: readonly string[];
}

type Value = string | number | boolean | readonly string[] | undefined;
/** What directives say of one place, by the directive (`@rest`), or by the argument of @constraint (`max_length`). */
type Facts = Readonly<Record<string, Value>>;

/** By place, such as `Query.invoices(limit:)`. */
type Places = ReadonlyMap<string, Facts>;

export function behaviourChanges(before: SchemaModel, now: SchemaModel): Changes {
  const old = placesOf(before);
  const breaking: string[] = [];
  const safe: string[] = [];
  for (const [place, facts] of placesOf(now)) {
    const was = old.get(place);
    if (!was) {
      // otherwise what is new or gone is a change of types; but to graphql-js this input, which is nullable, is optional
      if (facts.required === true && old.has(containerOf(place))) breaking.push(`${place} is new, and required.`);
      continue;
    }
    for (const name of Object.keys(facts)) {
      const from = was[name];
      const to = facts[name];
      if (wordOf(from) === wordOf(to)) continue;
      const text = `${place}: ${name} was ${wordOf(from)}, is ${wordOf(to)}.`;
      (isBreaking(name, from, to) ? breaking : safe).push(text);
    }
  }
  return { breaking: [...breaking, ...missingInRows(before, now)], safe };
}

/** What has a place: the type of a member, the operation of an argument. */
const containerOf = (place: string): string => place.replace(/\.\w+$|\(\w+:\)$/, '');

function wordOf(value: Value): string {
  if (value === undefined || value === false) return 'none';
  return typeof value === 'object' ? value.join(', ') : String(value);
}

/** The value of `include` that adds the field on REST. */
const INCLUDE = '@graphql_only(include:)';
/** Facts that callers use: a new one is safe, a changed or removed one is not. */
const USED = ['@rest', '@filter', '@default', INCLUDE];
const LOWER = ['min', 'min_length', 'min_items'];
const UPPER = ['max', 'max_length', 'max_items'];

/** Whether a change of the fact `name` breaks callers. */
function isBreaking(name: string, from: Value, to: Value): boolean {
  // whoever leaves an argument out, such as `limit`, relies on no particular value
  if (name === 'default') return false;
  if (USED.includes(name)) return from !== undefined;
  if (LOWER.includes(name)) return Number(to ?? -Infinity) > Number(from ?? -Infinity);
  if (UPPER.includes(name)) return Number(to ?? Infinity) < Number(from ?? Infinity);
  if (name === 'one_of' && typeof from === 'object' && typeof to === 'object')
    return from.some((value) => !to.includes(value));
  // rows stay in the former collection, and a member that becomes unique may be twice in them; keys with customer_ids get other objects
  if (name === '@stored' || name === '@restricted') return true;
  // a rule, such as a pattern or @access, that is new or another one; one that is gone is safe
  return to !== undefined && to !== false;
}

/** The places of what keys can call; operations of people and operators are left out. */
function placesOf(sdl: SchemaModel): Places {
  const forRoles = new Set(sdl.roots.flatMap(({ field }) => (directiveOf(field, 'access')?.role ? [field] : [])));
  const places = new Map<string, Facts>();
  for (const { type, field } of sdl.fields) {
    if (forRoles.has(field)) continue;
    const place = `${type}.${field.name.value}`;
    places.set(place, factsOf(field, isRootType(type)));
    for (const argument of field.arguments ?? []) places.set(`${place}(${argument.name.value}:)`, limitsOf(argument));
  }
  for (const type of sdl.inputTypes) {
    places.set(type, {});
    for (const member of sdl.inputFieldsOf(type)) places.set(`${type}.${member.name.value}`, limitsOf(member));
  }
  for (const { type, collection, unique, restrictedBy } of sdl.stored.values())
    places.set(type, {
      '@stored': unique === undefined ? collection : `${collection} by ${unique}`,
      '@restricted': restrictedBy,
    });
  return places;
}

function factsOf(field: FieldDefinitionNode, isRoot: boolean): Facts {
  const rest = directiveOf(field, 'rest');
  const access = directiveOf(field, 'access');
  const fallback = directiveOf(field, 'default');
  const omitted = omittedFrom(field);
  return {
    '@rest': rest && `${rest.method} ${rest.path}${rest.status === 200 ? '' : ` with ${String(rest.status)}`}`,
    '@access': access && (access.scope ?? JSON.stringify(access)),
    '@default': fallback && ('from' in fallback ? fallback.from : JSON.stringify(fallback.value)),
    // the bounds of stored members are those of imports and of operators' writes
    ...(!isRoot && { '@graphql_only': omitted, ...boundsOf(field) }),
    ...(!isRoot && omitted !== 'EVERYWHERE' && { [INCLUDE]: omitted && includeValue(field) }),
  };
}

function limitsOf(input: InputValueDefinitionNode): Facts {
  const filter = filterOf(input);
  return { '@filter': filter && [filter.member, filter.by, ...filter.members], ...boundsOf(input) };
}

/** Has every bound, also as undefined: {@link behaviourChanges} compares only facts that the schema has now, and would miss one that is gone. */
function boundsOf(node: FieldDefinitionNode | InputValueDefinitionNode): Facts {
  const bounds: Constraint = directiveOf(node, 'constraint') ?? {};
  const { required, not_null, min, max, min_length, max_length, pattern, format, min_items, max_items } = bounds;
  return {
    required,
    not_null,
    min,
    max,
    min_length,
    max_length,
    pattern,
    format,
    min_items,
    max_items,
    one_of: bounds.one_of,
    default: bounds.default,
  };
}

/** Finds members that are never null now, but that rows stored before may lack, and are then left out of answers (docs/decisions/invalid-rows.md). */
function missingInRows(before: SchemaModel, now: SchemaModel): string[] {
  const missing = [...now.stored.values()].flatMap(({ type, members }) => {
    const old = before.stored.get(type);
    return old ? membersLacking(type, old.members, members) : [];
  });
  return [...new Set(missing)];
}

function membersLacking(type: string, before: readonly StoredMember[], now: readonly StoredMember[]): string[] {
  return now.flatMap(({ name, isRequired, members, type: inner }) => {
    const old = before.find((member) => member.name === name);
    // rows have it, or need not; its own members may be missing in them
    if (old && (old.isRequired || !isRequired)) return membersLacking(inner, old.members, members);
    return isRequired
      ? [
          `${type}.${name} is never null, but rows stored before lack it: make it nullable, or give it @default and run scopegate doctor --rows --fix.`,
        ]
      : [];
  });
}
