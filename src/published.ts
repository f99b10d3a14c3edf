import { collections, resolvers } from './resources';
import { buildSchemas, type Schemas } from './operations/build';
import { mergeResolvers, type Resolvers } from './operations/run';
import { loadDocument } from './schema/sdl';
import { settingsResolvers } from './settings/resolvers';

/** The schemas to serve: schema/*.graphql with all resolvers. */
export function publishedSchemas(): Schemas {
  return buildSchemas(loadDocument(), publishedResolvers(), collections);
}

export function publishedResolvers(): Resolvers {
  return mergeResolvers(resolvers, settingsResolvers);
}
