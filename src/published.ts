import { collections, resolvers as resourceResolvers } from './resources';
import { buildOpenApi, type OpenApiDocument } from './rest/openapi';
import { buildSchemas, type Schemas } from './schema/build';
import type { Resolvers } from './schema/guard';
import { loadDocument } from './schema/sdl';
import { settingsResolvers } from './settings/resolvers';

/** The schemas to serve: schema/*.graphql with all resolvers. */
export function publishedSchemas(): Schemas {
  const resolvers: Resolvers = { ...resourceResolvers };
  for (const [type, fields] of Object.entries(settingsResolvers)) resolvers[type] = { ...resolvers[type], ...fields };
  return buildSchemas(loadDocument(), resolvers, collections);
}

/** The OpenAPI 3.1 document of the REST API; needs no database. */
export function openApiDocument(): OpenApiDocument {
  const { rest, operations } = publishedSchemas();
  return buildOpenApi(rest, operations);
}
