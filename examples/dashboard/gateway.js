/** How long an answer may take, in milliseconds. The gateway gives a query 10 s. */
const PATIENCE = 20_000;

/** Codes worth another attempt (guide for integrators, "Retrying"); `unreachable` is our own, for no answer at all. */
const TEMPORARY = ['rate_limited', 'unavailable', 'internal', 'unreachable'];

/** Why there is no answer, with the members of the gateway's errors. */
export class Problem extends Error {
  constructor({ code, message, retry_after: retryAfter = 0, required_scope: scope, request_id: requestId }) {
    super(message);
    Object.assign(this, { code, retryAfter, scope, requestId });
  }

  get isTemporary() {
    return TEMPORARY.includes(this.code);
  }
}

/** Queries the gateway. Resolves with its data, and the problem of each root field that has none. @throws Problem */
export async function ask(gateway, query, variables, signal) {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
  const response = await post(gateway, { query, variables }, { signal: limited });
  const { data, errors = [] } = await contentOf(response);
  // an answer that nobody waits for any more is dropped
  signal.throwIfAborted();
  if (!data) throw problemOf(errors[0], response);
  return { data, problems: new Map(errors.map((error) => [error.path?.[0], problemOf(error, response)])) };
}

/** @throws Problem `unreachable` if there is no answer */
export async function post({ url, key }, body, { signal, headers = {} }) {
  try {
    return await fetch(new URL('/graphql', url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'omit',
      signal,
    });
  } catch {
    throw new Problem({ code: 'unreachable', message: `No answer from ${url}.` });
  }
}

/** What an answer says, or nothing if it is not JSON. */
export async function contentOf(response) {
  try {
    return JSON.parse(await response.text());
  } catch {
    return {};
  }
}

/** The problem that an error of GraphQL describes; without one, the answer was not from a gateway but from something before it. */
export function problemOf(error, response) {
  if (error) return new Problem({ message: error.message, ...error.extensions });
  const { status, url, headers } = response;
  const code = status === 429 ? 'rate_limited' : status >= 500 || status === 200 ? 'unavailable' : 'not_a_gateway';
  const retryAfter = Number(headers.get('Retry-After')) || 0;
  return new Problem({ code, message: `${url} answered ${status}, without JSON.`, retry_after: retryAfter });
}
