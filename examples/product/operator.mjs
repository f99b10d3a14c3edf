// What a product does with the operator API: sign-up, its "Integrations" button, a change of plan, and the end of an account.
// With ADMIN_PORT, SCOPEGATE_URL has that port.
import { setTimeout as sleep } from 'node:timers/promises';

const { SCOPEGATE_URL = 'http://127.0.0.1:4000', OPERATOR_SECRET } = process.env;

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${OPERATOR_SECRET}`, 'content-type': 'application/json' };
  for (let attempt = 1; ; attempt += 1) {
    const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${SCOPEGATE_URL}/operator/v1${path}`, options).catch(() => undefined);
    if (response?.ok) return response.json();
    const { status, headers: answered } = response ?? {};
    // everything below can be repeated: it finds what an earlier try made
    if (attempt === 5 || (response && status !== 429 && status < 500)) {
      throw new Error(`${method} ${path}: ${status ?? 'no answer'} ${(await response?.text()) ?? ''}`);
    }
    await sleep(1000 * Number(answered?.get('retry-after') ?? attempt));
  }
}

/** The organisation of one of our accounts, by our own id of it; undefined if there is none. */
async function find(account) {
  const { data } = await call('GET', `/organisations?external_ref=${encodeURIComponent(account)}`);
  return data[0];
}

async function organisationOf(account) {
  const found = await find(account);
  if (!found) throw new Error(`account ${account} has no organisation`);
  return found;
}

export const actions = {
  // in our sign-up: the same account again is the same organisation
  signUp: (account, name) => call('POST', '/organisations', { name, external_ref: account, plan: 'starter' }),
  // behind the button: redirect the browser to `url`, which signs in once
  async integrations(account, id, name, role = 'admin') {
    const organisation = await organisationOf(account);
    return call('POST', `/organisations/${organisation.id}/sign-in-links`, { user: { id, name }, role });
  },
  // in our billing: for all keys from their next request on
  changePlan: async (account, plan) => call('PATCH', `/organisations/${(await organisationOf(account)).id}`, { plan }),
  // when the account is closed: for good; null if it is gone already
  async close(account) {
    const found = await find(account);
    if (!found) return null;
    const { id, name } = found;
    let job = await call('POST', `/organisations/${id}/erasure`, { confirm: name });
    for (; job.ended_at === null; job = await call('GET', `/jobs/${job.id}`)) await sleep(2000);
    return job;
  },
};
