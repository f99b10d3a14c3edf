import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type PlainAnswer, type PlainRequest, createRoutes } from './routes';
import { settings } from './settings';

/* R1: Fastify and the MongoDB driver. */

async function main(): Promise<void> {
  const { uri, controlDatabase, port, said } = settings();
  const routes = await createRoutes(uri, controlDatabase);
  const app = fastify({ bodyLimit: 5 * 1024 * 1024 });
  app.get<{ Params: { id: string } }>('/api/v1/quotes/:id', (request, reply) =>
    send(reply, routes.quote(plain(request), request.params.id)),
  );
  app.get<{ Querystring: { customer_id: string; limit: string } }>('/api/v1/quotes', (request, reply) =>
    send(reply, routes.quotes(plain(request), request.query.customer_id, Number(request.query.limit))),
  );
  app.post('/api/v1/products/bulk', (request, reply) => send(reply, routes.products(plain(request), request.body)));
  app.post('/graphql', (request, reply) => send(reply, routes.graphql(plain(request), request.body)));
  await app.listen({ port, host: '127.0.0.1' });
  said();
}

function plain({ headers }: Pick<FastifyRequest, 'headers'>): PlainRequest {
  return { authorization: headers.authorization, ifNoneMatch: headers['if-none-match'] };
}

async function send(reply: FastifyReply, answer: Promise<PlainAnswer>): Promise<FastifyReply> {
  const { status, headers, body } = await answer;
  return reply.code(status).headers(headers).send(body);
}

void main();
