import { DAY } from '../units';

/*
 * The operations that the settings pages call, each with its result as `value`, or several results by name; shared by the gateway and the
 * pages' script.
 */

const KEY = `id name prefix last_four scopes created_by created_at expires_at revoked_at last_used_at last_used_from
  allowed_ranges customer_ids rotated_to mcp kind app { host } state`;

const ENDPOINT = `id url types customer_ids state disabled_reason disabled_at failing_since next_attempt_at last_success_at waiting
  lag_seconds old_secret_until created_by created_at`;

const INVITATION = 'id name role created_by created_at expires_at';

const REQUEST = `id at request_id key_id face method path operation operation_type operation_name status code reason
  missing_scope elements elements_failed ms address`;
const REQUEST_VARIABLES = `$key_id: ID, $failed: Boolean, $status: String, $face: RequestFace, $search: String,
  $since: DateTime, $until: DateTime`;
const REQUEST_FILTERS = REQUEST_VARIABLES.replaceAll(/\$(\w+): \w+/g, '$1: $$$1');
const USAGE = `requests errors rate_limited p95_ms previous { requests errors rate_limited p95_ms }
  buckets { start requests errors rate_limited p50_ms p95_ms }
  operations { operation requests errors rate_limited p50_ms p95_ms } codes { code requests }`;

const ATTEMPT = 'at ok status error answer ms';

const DELIVERY = `id event_id type object_id state attempts next_attempt_at at log { ${ATTEMPT} }`;

/** A mutation of a webhook endpoint whose only argument is the endpoint's id; `fields` are selected of its result. */
const endpointMutation = (name: string, fields = ENDPOINT): string =>
  `mutation($webhook_id: ID!) { value: ${name}(webhook_id: $webhook_id) { ${fields} } }`;

export const DOCUMENTS = {
  keys: `query($state: String, $search: String, $cursor: String) {
    value: keys(state: $state, search: $search, limit: 50, cursor: $cursor) {
      data { ${KEY} } replaced { ${KEY} } next_cursor } }`,
  key: `query($key_id: ID!) { value: key(key_id: $key_id) { ${KEY} } }`,
  replacedKeys: `query($replaced_by: ID!) { value: keys(replaced_by: $replaced_by, limit: 1) { data { ${KEY} } } }`,
  usage: `query($key_id: ID!, $period: UsagePeriod!) { value: usage(key_id: $key_id, period: $period) { mcp ${USAGE} } }`,
  missingScopes: `query($key_id: ID!) {
    value: request_log(key_id: $key_id, code: "insufficient_scope", limit: 20) { data { missing_scope at } } }`,
  firstRequests: `query($key_id: ID!) {
    value: request_log(key_id: $key_id, limit: 20) {
      data { at face method path operation status code missing_scope } } }`,
  newestKeys: `{ value: keys(limit: 100) { data { id name prefix last_four } has_more } }`,
  expiringKeys: `query($expires_before: DateTime!, $cursor: String) {
    value: keys(state: "active", expires_before: $expires_before, limit: 100, cursor: $cursor) {
      data { ${KEY} } next_cursor } }`,
  unusedKeys: `query($unused_since: DateTime!) {
    value: keys(state: "active", unused_since: $unused_since, limit: 20) { data { ${KEY} } has_more } }`,
  allUsage: `query($period: UsagePeriod!) { value: usage(period: $period) { ${USAGE} } }`,
  usageByKey: `query($period: UsagePeriod!) {
    value: usage_by_key(period: $period) { data { key_id requests errors rate_limited } } }`,
  members: `{ value: members { data { id name role last_sign_in_at from signed_in } has_more } }`,
  invitations: `{ value: invitations { data { ${INVITATION} } } }`,
  invite: `mutation($name: String!, $role: MemberRole!) {
    value: create_invitation(name: $name, role: $role) { url invitation { ${INVITATION} } } }`,
  revokeInvitation: `mutation($invitation_id: ID!) {
    value: revoke_invitation(invitation_id: $invitation_id) { id } }`,
  signOut: `mutation($user_id: String) { value: sign_out(user_id: $user_id) { sessions } }`,
  events: `query(
    $action: String, $key_id: ID, $actor: String, $since: DateTime, $until: DateTime, $limit: Int, $cursor: String
  ) {
    value: audit_events(
      action: $action, key_id: $key_id, actor: $actor, since: $since, until: $until, limit: $limit, cursor: $cursor
    ) {
      data { id at times last_at action actor actor_name from key_id details } next_cursor } }`,
  requests: `query($cursor: String, ${REQUEST_VARIABLES}) {
    value: request_log(limit: 20, cursor: $cursor, ${REQUEST_FILTERS}) { data { ${REQUEST} } next_cursor } }`,
  request: `query($id: ID!) { value: logged_request(id: $id) { ${REQUEST} } }`,
  requestHistogram: `query(${REQUEST_VARIABLES}) {
    value: request_histogram(${REQUEST_FILTERS}) { interval_seconds intervals { start successful failed } } }`,
  requestCounts: `query($code: String!, $since: DateTime, $until: DateTime) {
    value: request_counts(code: $code, since: $since, until: $until) {
      data { key_id requests missing_scopes last_at } } }`,
  // one request, so that it takes one turn among the organisation's large queries; amounts of two currencies are never added
  figures: `query($currency: String!, $from: DateTime, $to: DateTime, $sold: [OrderStatus!]) {
    orders: order_totals(group_by: [STATUS], from: $from, to: $to) {
      data { currency status count total_minor } has_more }
    order_months: order_totals(group_by: [MONTH], currency: $currency, status: $sold, from: $from, to: $to) {
      data { month count total_minor } has_more }
    quotes: quote_totals(group_by: [STATUS], from: $from, to: $to) {
      data { currency status count total_minor } has_more }
    quote_months: quote_totals(group_by: [MONTH], currency: $currency, from: $from, to: $to) {
      data { month count total_minor } has_more }
    customers: order_totals(
      group_by: [CUSTOMER], currency: $currency, status: $sold, from: $from, to: $to, sort: "-total_minor", limit: 10
    ) {
      data { customer_id customer { name } count total_minor } }
    products: product_sales(status: $sold, from: $from, to: $to, limit: 10) {
      data { sku description currency uom qty net_minor } } }`,
  make: `mutation(
    $name: String!, $scopes: [String!]!, $expires_at: DateTime, $allowed_ranges: [String!], $mcp: McpAccess,
    $customer_ids: [ID!]
  ) {
    value: create_key(
      name: $name, scopes: $scopes, expires_at: $expires_at, allowed_ranges: $allowed_ranges, mcp: $mcp,
      customer_ids: $customer_ids
    ) {
      key api_key { ${KEY} } } }`,
  rotate: `mutation($key_id: ID!, $overlap_hours: Int, $expires_at: DateTime) {
    value: rotate_key(key_id: $key_id, overlap_hours: $overlap_hours, expires_at: $expires_at) {
      key api_key { ${KEY} } old { expires_at } } }`,
  update: `mutation(
    $key_id: ID!, $name: String, $scopes: [String!], $expires_at: DateTime, $allowed_ranges: [String!],
    $mcp: McpAccess
  ) {
    value: update_key(
      key_id: $key_id, name: $name, scopes: $scopes, expires_at: $expires_at, allowed_ranges: $allowed_ranges, mcp: $mcp
    ) { id } }`,
  revoke: `mutation($key_id: ID!) { value: revoke_key(key_id: $key_id) { ${KEY} } }`,

  endpoints: `{ value: webhooks { data { ${ENDPOINT} } } }`,
  deliveries: `query($webhook_id: ID!, $state: WebhookDeliveryState, $cursor: String) {
    value: webhook_deliveries(webhook_id: $webhook_id, state: $state, limit: 20, cursor: $cursor) {
      data { ${DELIVERY} } next_cursor } }`,
  delivery: `query($webhook_id: ID!, $delivery: String!) {
    value: webhook_delivery(webhook_id: $webhook_id, delivery: $delivery) { ${DELIVERY} } }`,
  deliveryStatistics: `query($webhook_id: ID, $period: UsagePeriod!) {
    value: webhook_statistics(webhook_id: $webhook_id, period: $period) {
      data {
        webhook_id delivered failed counted_since p50_ms buckets { start delivered failed }
        errors { status error deliveries last_at } } } }`,
  message: `query($webhook_id: ID!, $delivery: String!) {
    value: webhook_message(webhook_id: $webhook_id, delivery: $delivery) { body } }`,
  createEndpoint: `mutation($url: String!, $types: [String!], $customer_ids: [ID!]) {
    value: create_webhook(url: $url, types: $types, customer_ids: $customer_ids) { secret endpoint { ${ENDPOINT} } } }`,
  updateEndpoint: `mutation($webhook_id: ID!, $url: String, $types: [String!]) {
    value: update_webhook(webhook_id: $webhook_id, url: $url, types: $types) { ${ENDPOINT} } }`,
  enableEndpoint: `mutation($webhook_id: ID!, $from: DateTime) {
    value: enable_webhook(webhook_id: $webhook_id, from: $from) { ${ENDPOINT} } }`,
  disableEndpoint: endpointMutation('disable_webhook'),
  deleteEndpoint: endpointMutation('delete_webhook'),
  rotateEndpoint: endpointMutation('rotate_webhook', `secret endpoint { ${ENDPOINT} }`),
  testEndpoint: endpointMutation('send_test_event', ATTEMPT),
  resend: `mutation($webhook_id: ID!, $delivery: String!) {
    value: resend_event(webhook_id: $webhook_id, delivery: $delivery) { ${ATTEMPT} } }`,
};

/** What the overview points out: keys that expire within so many days, and keys that nobody used for so many. */
export const EXPIRES_WITHIN = 7;
export const UNUSED_FOR = 90;

/**
 * The first calls of each settings page, with their variables if the address has no filters; `now` is the database's time. The gateway sends the
 * answers with the page (opening.ts), and the script makes these calls by this table, too. The navigation of every page needs those of `webhooks`.
 */
export const firstCalls = (now: number) => ({
  integrations: {
    newestKeys: {},
    expiringKeys: { expires_before: new Date(now + EXPIRES_WITHIN * DAY).toISOString() },
    unusedKeys: { unused_since: new Date(now - UNUSED_FOR * DAY).toISOString() },
    allUsage: { period: 'last_24h' as const },
    usageByKey: { period: 'last_24h' as const },
  },
  // its figures may wait for other large queries, and the page must not
  insights: {},
  keys: { keys: { state: 'active' } },
  webhooks: { endpoints: {} },
  requests: { requests: {}, requestHistogram: {}, newestKeys: {} },
  members: { members: {}, invitations: {} },
  audit: { events: { limit: 20 }, newestKeys: {}, members: {} },
});

export type PageName = keyof ReturnType<typeof firstCalls>;
/** The pages in /settings by their names in addresses. */
export const SETTINGS_PAGES = Object.keys(firstCalls(0));
