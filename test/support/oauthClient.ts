import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/* The protocol's own client, which connects from nothing but an address: it registers, opens a browser and waits for the answer. */

type Tokens = Parameters<OAuthClientProvider['saveTokens']>[0];
type Discovery = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0];
type Registration = Parameters<NonNullable<OAuthClientProvider['saveClientInformation']>>[0];

export interface OAuthClient extends AsyncDisposable {
  /** The origin at which the program waits. */
  readonly origin: string;
  /** What it would open in a browser. */
  readonly opened: () => string | undefined;
  readonly tokens: () => Tokens | undefined;
  /** The answer that the browser brings. */
  readonly answer: Promise<URLSearchParams>;
  /** Goes on with that. */
  readonly finish: (answer: URLSearchParams) => Promise<void>;
  /** Connects, and calls a tool. @throws UnauthorizedError once it has told the browser what to open */
  readonly use: (tool: string) => Promise<unknown>;
}

export async function createOAuthClient(url: string): Promise<OAuthClient> {
  const stored: { client?: Registration; tokens?: Tokens; opened?: string; verifier?: string; found?: Discovery } = {};
  let bring: (answer: URLSearchParams) => void = () => undefined;
  const answer = new Promise<URLSearchParams>((resolve) => (bring = resolve));
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    response.setHeader('content-type', 'text/html');
    response.end('<title>Connected</title><link rel="icon" href="data:,"><h1>Connected</h1>');
    if (pathname === '/callback') bring(searchParams);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const provider: OAuthClientProvider = {
    redirectUrl: `${origin}/callback`,
    clientMetadata: {
      client_name: 'Desk assistant',
      redirect_uris: [`${origin}/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'its state',
    clientInformation: () => stored.client,
    saveClientInformation: (client) => void (stored.client = client),
    tokens: () => stored.tokens,
    saveTokens: (tokens) => void (stored.tokens = tokens),
    redirectToAuthorization: (address) => void (stored.opened = address.href),
    saveCodeVerifier: (verifier) => void (stored.verifier = verifier),
    saveDiscoveryState: (found) => void (stored.found = found),
    discoveryState: () => stored.found,
    invalidateCredentials: (what) => {
      if (what === 'all' || what === 'tokens') delete stored.tokens;
      if (what === 'all' || what === 'client') delete stored.client;
    },
    codeVerifier: () => stored.verifier ?? '',
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider });
  return {
    origin,
    opened: () => stored.opened,
    tokens: () => stored.tokens,
    answer,
    finish: (parameters) => transport().finishAuth(parameters),
    async use(tool) {
      const client = new Client({ name: 'test', version: '1.0.0' });
      await client.connect(transport());
      try {
        return await client.callTool({ name: tool, arguments: {} });
      } finally {
        await client.close();
      }
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      }),
  };
}
