import { collections, resolvers } from './resources';
import { buildSchemas, type Schemas } from './operations/build';
import { mergeResolvers } from './operations/run';
import { loadDocument } from './schema/sdl';
import { settingsResolvers } from './settings/resolvers';
import { webhookResolvers } from './webhooks/resolvers';

/** The schemas to serve: schema/*.graphql with all resolvers. */
export function publishedSchemas(): Schemas {
  const all = mergeResolvers(resolvers, settingsResolvers, webhookResolvers);
  return buildSchemas(loadDocument(), all, collections);
}
