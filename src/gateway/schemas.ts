import { resolvers } from '../resources';
import { buildSchemas, type Schemas } from '../operations/build';
import { mergeResolvers, type Resolvers } from '../operations/run';
import { operatorResolvers } from '../operator/resolvers';
import { operatorModel, published } from '../schema/model';
import { settingsResolvers } from '../settings/resolvers';

/** The schemas of keys and of people: the SDL of this package and of the user's folder, with all their resolvers. */
export function publishedSchemas(): Schemas {
  return buildSchemas(published, publishedResolvers());
}

export function operatorSchemas(): Schemas {
  return buildSchemas(operatorModel(), operatorResolvers);
}

export function publishedResolvers(): Resolvers {
  return mergeResolvers(resolvers, settingsResolvers);
}
