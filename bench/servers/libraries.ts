import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { makeExecutableSchema } from '@graphql-tools/schema';
import express from 'express';
import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import mongoose, { type Model, Schema } from 'mongoose';
import { useSofa } from 'sofa-api';
import { databaseName } from '../../src/mongo/databaseNames';
import { firstPage } from '../../src/tenant/pagination';
import { resourceOf } from '../../src/resources';
import type { Quote } from '../quote';
import { scalars } from '../../src/schema/scalars';
import { deriveRestDocument } from '../../src/schema/restDocument';
import { withItemTypes } from '../../src/openapi/include';
import { published } from '../../src/schema/model';
import { createAdmission } from './access';
import { settings } from './settings';

const quotes = resourceOf('quotes');

/* R2: Sofa or Apollo, depending on FACE, set up as in their READMEs, with mongoose documents. */

interface Context {
  readonly organisationId: string;
  readonly quotes: Model<Quote>;
}

const resolvers = {
  ...scalars,
  Query: {
    quote: (_: unknown, { id }: { id: string }, context: Context) => context.quotes.findById(id).exec(),
    quotes: async (_: unknown, args: { customer_id: string; limit: number }, context: Context) => {
      const { customer_id, limit } = args;
      const rows = await context.quotes
        .find({ customer_id })
        .sort({ created_at: -1, _id: -1 })
        .limit(limit + 1);
      const { organisationId } = context;
      return firstPage(rows, { organisationId, operation: 'quotes', args: { limit }, filters: { customer_id } });
    },
  },
};

function schemaOf(typeDefs: DocumentNode): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs,
    resolvers,
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
}

// checked by the schema of the API alone, as the gateway's rows are
const rows = new Schema<Quote>({ _id: String, created_at: Date }, { strict: false, versionKey: false });

async function main(): Promise<void> {
  const { uri, controlDatabase, port, said } = settings();
  const connection = await mongoose.createConnection(uri).asPromise();
  const admit = createAdmission(connection.getClient(), controlDatabase);
  const models = new Map<string, Model<Quote>>();

  function contextOf(organisationId: string): Context {
    let model = models.get(organisationId);
    if (!model) {
      model = connection.useDb(databaseName(organisationId)).model<Quote>(quotes.name, rows, quotes.name);
      models.set(organisationId, model);
    }
    return { organisationId, quotes: model };
  }

  if (process.env.FACE === 'graphql') {
    const server = new ApolloServer<Context>({ schema: schemaOf(published.document) });
    await startStandaloneServer(server, {
      listen: { port, host: '127.0.0.1' },
      context: async ({ req, res }) => {
        const { status, headers, organisationId } = await admit(req.headers.authorization, 'quotes:read');
        for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
        if (status !== 200) throw new GraphQLError('refused', { extensions: { http: { status } } });
        return contextOf(organisationId);
      },
    });
    said();
    return;
  }
  const app = express();
  app.use('/api/v1', (request, response, next) => {
    admit(request.headers.authorization, 'quotes:read').then(({ status, headers, organisationId }) => {
      response.set(headers as Record<string, string>);
      if (status !== 200) response.sendStatus(status);
      else {
        Object.assign(request, { caller: contextOf(organisationId) });
        next();
      }
    }, next);
  });
  app.use(
    '/api/v1',
    useSofa({
      basePath: '/api/v1',
      schema: schemaOf(withItemTypes(deriveRestDocument(published))),
      // else the filter `id` makes it /quotes/:id
      routes: { 'Query.quotes': { method: 'GET', path: '/quotes' } },
      context: ({ req }: { req: { caller: Context } }) => req.caller as unknown as Record<string, unknown>,
    }),
  );
  app.listen(port, '127.0.0.1', said);
}

void main();
