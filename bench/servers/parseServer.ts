import { createRequire } from 'node:module';
import { join } from 'node:path';
import express from 'express';
import { settings } from './settings';

/* Parse Server: REST and GraphQL on MongoDB with a key, mounted as in its documentation. */

interface ParseServer {
  readonly app: express.RequestHandler;
  start(): Promise<void>;
}

interface ParseModule {
  readonly ParseServer: new (options: object) => ParseServer;
  readonly ParseGraphQLServer: new (
    server: ParseServer,
    options: { graphQLPath: string },
  ) => { applyGraphQL(app: express.Express): void };
}

async function main(): Promise<void> {
  const { uri, port, said } = settings();
  const load = createRequire(join(__dirname, '..', '..', '.cache', 'bench-peers', 'package.json'));
  const { ParseServer, ParseGraphQLServer } = load('parse-server') as ParseModule;
  const database = new URL(uri);
  database.pathname = '/parse_bench';
  const server = new ParseServer({
    databaseURI: database.toString(),
    appId: 'bench',
    masterKey: 'bench-master',
    restAPIKey: 'bench-key',
    javascriptKey: 'bench-key',
    serverURL: `http://127.0.0.1:${String(port)}/parse`,
    allowClientClassCreation: true,
    allowCustomObjectId: true,
    logLevel: 'error',
    silent: true,
    verbose: false,
  });
  await server.start();
  const app = express();
  app.use('/parse', server.app);
  new ParseGraphQLServer(server, { graphQLPath: '/graphql' }).applyGraphQL(app);
  app.listen(port, '127.0.0.1', said);
}

void main();
