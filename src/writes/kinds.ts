import type { GraphQLSchema } from 'graphql';
import { uniqueMembers } from '../mongo/collection';
import type { Check } from '../errors';
import { LONGEST_KEY } from '../schema/callerKeys';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { componentSchemas, SCHEMA_ROOT } from '../schema/jsonSchema';
import { ERASED_AT } from '../schema/personal';
import {
  EXTERNAL_REF,
  hasParts,
  objectName,
  ownerOf,
  referencesTo,
  referenceTo,
  type StoredMember,
} from '../schema/storedTypes';
import { checkAtFirstUse, createAjv, requireSchema } from '../schema/validation';
import { reshape } from '../stored/recordSchemas';
import type { Resource } from '../stored/resource';

/* What writes need to know of each stored type, all of it from the SDL. */

/** Members of an object as a caller sent them, or as a record has them. */
export type Members = Readonly<Record<string, unknown>>;

/** A member with the id of another object. */
interface Reference {
  readonly member: string;
  /** The member with its external_ref instead: customer_ref beside customer_id. */
  readonly refMember: string;
  readonly to: Kind;
}

/** A stored type, with what writes need to know of it. */
export interface Kind {
  /** As elements name it: `quote`. */
  readonly name: string;
  readonly resource: Resource;
  /** The members that name an object, in the order in which they are tried: if an id is given, it alone decides; an external_ref of no object leaves it to the next. */
  readonly identities: readonly string[];
  /** The members of which no two objects may have the same value, besides the id. */
  readonly unique: readonly string[];
  readonly references: readonly Reference[];
  /** The reference to the object that this one is part of, as a message of its thread; undefined if it is part of none. */
  readonly owner: Reference | undefined;
  /** The kinds whose objects are part of one of these. */
  readonly parts: Kind[];
  /** The members that only the gateway sets; what is sent of them is ignored. */
  readonly gatewayOwn: ReadonlySet<string>;
  /** The lists of objects with ids, such as lines. */
  readonly lists: readonly StoredMember[];
  /** Values, at any depth, that no valid object has more than; Infinity if a list inside it has no @constraint(max_items:). */
  readonly mostValues: number;
  /** Checks a whole record. */
  readonly check: Check;
}

/** The most objects in a list of an object, such as lines. */
export const MAX_PARTS = 1000;

const UPDATED_AT = 'updated_at';

export interface Kinds {
  readonly byName: ReadonlyMap<string, Kind>;
}

/** The kinds of all resources; `schema` is the public REST schema. */
export function kindsOf(resources: readonly Resource[], schema: GraphQLSchema): Kinds {
  const restSchemas = componentSchemas(schema, { elementBounds: true, closed: true });
  const schemas = { ...restSchemas };
  for (const { stored, name } of resources) schemas[`object.${name}`] = reshape(restSchemas, stored.type, [], {});
  // at the first check, since adding the schemas takes long
  let compiled: ReturnType<typeof createAjv> | undefined;
  const ajv = () => (compiled ??= createAjv().addSchema({ components: { schemas } }, 'objects'));
  const types = resources.map(({ stored }) => stored);
  // references are added once there is a kind for every type
  type Growing = Omit<Kind, 'owner' | 'references'> & { owner: Reference | undefined; references: Reference[] };
  const kinds = new Map(
    resources.map((resource): [string, Growing] => {
      const { stored, name, computed } = resource;
      const has = (member: string): boolean => stored.members.some((candidate) => candidate.name === member);
      const identities = ['id', EXTERNAL_REF, stored.unique ?? EXTERNAL_REF].filter(has);
      return [
        stored.type,
        {
          name: objectName(stored.type),
          resource,
          identities: [...new Set(identities)],
          unique: uniqueMembers(resource),
          references: [],
          owner: undefined,
          parts: [],
          gatewayOwn: new Set([UPDATED_AT, ERASED_AT, ATTACHMENTS, ...computed].filter(has)),
          mostValues: mostValues(stored.members),
          lists: stored.members.filter((member) => hasParts(member) && member.name !== ATTACHMENTS),
          check: checkAtFirstUse(() => requireSchema(ajv(), `objects${SCHEMA_ROOT}object.${name}`)),
        },
      ];
    }),
  );
  for (const kind of kinds.values()) {
    for (const [type, to] of kinds) {
      for (const member of referencesTo(type, kind.resource.stored))
        kind.references.push({ member, refMember: member.replace(/_id$/, '_ref'), to });
    }
    const owner = ownerOf(kind.resource.stored, types);
    kind.owner = owner && kind.references.find(({ member }) => member === referenceTo(owner.type));
    kind.owner?.to.parts.push(kind);
  }
  // so far by type (`Quote`)
  return { byName: new Map([...kinds.values()].map((kind) => [kind.name, kind])) };
}

/** The most values in an object with these members; `mostParts` bounds its own lists of objects with ids, but none inside those. */
function mostValues(members: readonly StoredMember[], mostParts = MAX_PARTS): number {
  const counts = members.map((member) => {
    const { isList, members: inner } = member;
    const each = mostValues(inner, Infinity);
    if (!isList) return 1 + each;
    const items = member.most ?? (hasParts(member) ? mostParts : Infinity);
    return 1 + items * (1 + each);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The value of a member that can name an object; undefined if there is none, or it is too long to be valid. */
export function identityOf(members: Members, member: string): string | undefined {
  const value = members[member];
  return typeof value === 'string' && value.length <= LONGEST_KEY ? value : undefined;
}
