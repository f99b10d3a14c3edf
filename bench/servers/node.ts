import { createServer, type IncomingMessage } from 'node:http';
import { type PlainAnswer, type PlainRequest, createRoutes } from './routes';
import { settings } from './settings';

/* R0: only node:http and the MongoDB driver. */

const QUOTES = '/api/v1/quotes/';

async function main(): Promise<void> {
  const { uri, controlDatabase, port, said } = settings();
  const routes = await createRoutes(uri, controlDatabase);

  async function route(request: IncomingMessage): Promise<PlainAnswer> {
    const { url = '/', headers } = request;
    const plain: PlainRequest = { authorization: headers.authorization, ifNoneMatch: headers['if-none-match'] };
    if (request.method === 'GET' && url.startsWith(QUOTES)) return routes.quote(plain, url.slice(QUOTES.length));
    if (request.method === 'GET' && url.startsWith('/api/v1/quotes?')) {
      const query = new URLSearchParams(url.slice(url.indexOf('?') + 1));
      return routes.quotes(plain, query.get('customer_id') ?? '', Number(query.get('limit')));
    }
    if (url === '/graphql') return routes.graphql(plain, await readJson(request));
    if (url === '/api/v1/products/bulk') return routes.products(plain, await readJson(request));
    return { status: 404, headers: {}, body: '' };
  }

  const server = createServer((request, response) => {
    route(request).then(
      ({ status, headers, body }) => {
        response.statusCode = status;
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        if (status === 304) {
          response.end();
          return;
        }
        const bytes = Buffer.from(body);
        response.setHeader('Content-Length', bytes.length);
        response.end(bytes);
      },
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        response.statusCode = 500;
        response.end();
      },
    );
  });
  server.listen(port, '127.0.0.1', said);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

void main();
