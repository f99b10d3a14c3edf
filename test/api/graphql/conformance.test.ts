import { createRequire } from 'node:module';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineIntegrationTestSuite } from '@apollo/server-integration-testsuite';
import { type AuditResult, serverAudits } from 'graphql-http';
import { runApollo, writeApollo } from '../../../src/graphql/apolloHttp';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';

/* Suites of others for servers of GraphQL over HTTP. */

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
      .then((body) => {
        const [search = ''] = /\?.*/.exec(request.url ?? '') ?? [];
        return runApollo(apollo, { request, search }, body, context);
      })
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

describe('audits of the GraphQL-over-HTTP specification', () => {
  /** Number of graphql-http's audits, run with a key. */
  const AUDITS = 61;
  const LEAST_OK = 55;

  let results: AuditResult[];

  const gateway = served();
  beforeAll(async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const audits = serverAudits({
      url: `${gateway.url}/graphql`,
      fetchFn: (url: string, { headers, ...init }: RequestInit = {}) =>
        fetch(url, { ...init, headers: { ...(headers as object), authorization: `Bearer ${key}` } }),
    });
    results = await Promise.all(audits.map((audit) => audit.fn()));
    process.stderr.write(`graphql-http: ${String(countOf('ok'))} of ${String(audits.length)} audits ok\n`);
  });

  function countOf(status: AuditResult['status']): number {
    return results.filter((result) => result.status === status).length;
  }

  test('the gateway violates no MUST of GraphQL over HTTP', () => {
    expect(results).toHaveLength(AUDITS);
    expect(results.filter(({ status }) => status === 'error').map(({ id, name }) => `${id} ${name}`)).toEqual([]);
  });

  test(`at least ${String(LEAST_OK)} of ${String(AUDITS)} audits pass, and the others are recommendations`, () => {
    expect(countOf('ok')).toBeGreaterThanOrEqual(LEAST_OK);
  });
});
