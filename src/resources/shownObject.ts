import type { GraphQLOutputType, GraphQLSchema } from 'graphql';
import { WITHOUT_SEARCH } from '../mongo/collection';
import type { OrganisationData } from '../tenant/organisationData';
import { rowHolder } from '../operations/answers';
import type { CallContext } from '../operations/context';
import { inSlices } from '../operations/slices';
import { represent } from '../schema/entityTags';
import { objectName } from '../schema/storedTypes';
import { collections } from '.';

/** An object as events name it: by the name of its type (`quote`) and its id. */
export interface Named {
  readonly type: string;
  readonly id: string;
}

export type ReadShown = (data: OrganisationData, object: Named, context: CallContext) => Promise<unknown>;

/**
 * Returns a function that reads an object as REST shows it to a key with all scopes. It resolves with null if the object is gone, or its row is
 * one that cannot be shown (stored/invalidRows.ts), which is noted.
 */
export function shownObjects(schema: GraphQLSchema): ReadShown {
  const byName = new Map(collections.map((resource) => [objectName(resource.stored.type), resource]));
  return async (data, { type, id }, context) => {
    const resource = byName.get(type);
    const row = resource && (await data.objects.related(resource, { id, hold: rowHolder(context) }, WITHOUT_SEARCH));
    if (!row) return null;
    const fault = resource.faultIn(WITHOUT_SEARCH)(row);
    if (fault) {
      context.noteInvalid?.({ organisationId: data.organisationId, collection: resource.name, id, fault }, 'omitted');
      return null;
    }
    const outer = schema.getType(resource.stored.type) as GraphQLOutputType;
    return inSlices(context, () => represent(outer, row));
  };
}
