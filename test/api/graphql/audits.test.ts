import { type AuditResult, serverAudits } from 'graphql-http';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';

/** Number of graphql-http's audits of the GraphQL-over-HTTP specification, run with a key. */
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
