import { randomUUID } from 'node:crypto';
import { eventually } from '../../api/http/eventually';
import type { Json } from '../../support/client';
import type { TestGateway } from '../../support/gateway';
import { describing, operatorDocument } from '../../support/openapi';

/* A caller of the operator API; each REST answer is checked against its OpenAPI document. */

export const SECRET = 'billing-secret-of-thirty-two-characters-or-more';
export const TOKENS = { OPERATOR_TOKENS: `billing=${SECRET}` };
export const newRef = (): string => `ref-${randomUUID()}`;

const expectDescribed = describing(operatorDocument);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export function operator({ url }: Pick<TestGateway, 'url'>, secret = SECRET) {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/operator/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer: Answer = { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
    expectDescribed(method, path, answer.status, answer.headers, answer.body);
    return answer;
  };
  return {
    call,
    get: (path: string) => call('GET', path),
    post: (path: string, body: unknown, headers?: Record<string, string>) => call('POST', path, body, headers),
    patch: (path: string, body: unknown) => call('PATCH', path, body),
    remove: (path: string) => call('DELETE', path),
    async graphql(query: string, variables: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
      const response = await fetch(`${url}/operator/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}

/** Waits until a job has ended, and resolves with it. */
export const untilEnded = (gateway: Pick<TestGateway, 'url'>, id: string): Promise<Json> =>
  eventually(async () => {
    const { status, body } = await operator(gateway).get(`/jobs/${id}`);
    return status === 200 && body.ended_at !== null ? body : undefined;
  }, 60_000);
