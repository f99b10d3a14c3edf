import { byId, showFailure } from './dom.js';

/** The server's settings for this page: {csrf, mayChange, hasPlan}. */
export const settings = JSON.parse(byId('settings').textContent);

/** A failed call, with a message for the page. */
export class Failure extends Error {}

const KEY = `id name prefix last_four scopes created_by created_at expires_at revoked_at last_used_at last_used_from
  allowed_ranges rotated_to state`;

const DOCUMENTS = {
  keys: `query($state: String, $cursor: String) {
    value: api_keys(state: $state, limit: 50, cursor: $cursor) { data { ${KEY} } next_cursor } }`,
  usage: `query($id: ID!, $period: UsagePeriod!) {
    value: key_usage(id: $id, period: $period) {
      requests errors rate_limited buckets { start requests errors rate_limited } } }`,
  events: `query($cursor: String) {
    value: audit_events(limit: 20, cursor: $cursor) {
      data { id at action actor actor_name from key_id details } next_cursor } }`,
  make: `mutation($name: String!, $scopes: [String!]!, $expires_at: DateTime, $allowed_ranges: [String!]) {
    value: create_api_key(name: $name, scopes: $scopes, expires_at: $expires_at, allowed_ranges: $allowed_ranges) {
      key api_key { ${KEY} } } }`,
  rotate: `mutation($id: ID!, $overlap_hours: Int) {
    value: rotate_api_key(id: $id, overlap_hours: $overlap_hours) { key api_key { ${KEY} } old { expires_at } } }`,
  revoke: `mutation($id: ID!) { value: revoke_api_key(id: $id) { ${KEY} } }`,
};

/** Calls one of the operations above. @throws Failure */
export async function call(operation, variables = {}) {
  let answer;
  try {
    const response = await fetch('/settings/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': settings.csrf },
      body: JSON.stringify({ query: DOCUMENTS[operation], variables }),
    });
    answer = await response.json();
  } catch {
    throw new Failure('Could not reach the gateway. Try again.');
  }
  const [error] = answer.errors ?? [];
  if (error?.extensions?.code === 'unauthenticated') {
    // the session ended; the user repeats the action after signing in
    location.assign('/settings/sign-in');
    throw new Failure('You have been signed out.');
  }
  if (error) throw new Failure(error.message);
  return answer.data.value;
}

/** Runs page-level work; shows a failure at the top of the page. */
export async function attempt(work) {
  const place = byId('failure');
  try {
    const result = await work();
    showFailure(place);
    return result;
  } catch (error) {
    showFailure(place, error instanceof Failure ? error.message : 'Something went wrong on this page. Reload it.');
    return undefined;
  }
}
