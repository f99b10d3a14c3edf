import { createRequire } from 'node:module';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineIntegrationTestSuite } from '@apollo/server-integration-testsuite';
import { runApollo, writeApollo } from '../../../src/graphql/apolloHttp';

type CreateServer = Parameters<typeof defineIntegrationTestSuite>[0];
type SuiteServer = Awaited<ReturnType<CreateServer>>['server'];

// the suite needs servers from its own copy of the package
const { ApolloServer } = createRequire(require.resolve('@apollo/server-integration-testsuite'))('@apollo/server') as {
  ApolloServer: new (config: Parameters<CreateServer>[0]) => SuiteServer;
};

/** Apollo's integration test suite, with our mount on a bare node:http server. */
defineIntegrationTestSuite(async (config, { context = () => Promise.resolve({}) } = {}) => {
  const server = new ApolloServer(config);
  await server.start();
  const apollo = server as unknown as Parameters<typeof runApollo>[0];
  const http = createServer((request, response) => {
    const refuse = (error: unknown): void => {
      response.writeHead(400).end(String(error));
    };
    readJson(request)
      .then((body) => runApollo(apollo, request, body, context))
      .then((answer) => writeApollo(response, answer))
      .catch(refuse);
  });
  return { server, url: await listen(http), extraCleanup: () => close(http) };
});

/** The parsed body, or {} without a readable one, as body parsers do. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const isJson = /^application\/(.+\+)?json/.test(request.headers['content-type'] ?? '');
  return isJson && chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as unknown) : {};
}

async function listen(http: Server): Promise<string> {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/`;
}

async function close(http: Server): Promise<void> {
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
}
