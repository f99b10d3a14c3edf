/* Written by npm run openapi, from documents.ts and the SDL. */

interface ConnectedApp {
  readonly host: string;
}

interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly scopes: readonly string[];
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  readonly last_used_from: string | null;
  readonly allowed_ranges: readonly string[];
  readonly customer_ids: readonly string[] | null;
  readonly rotated_to: string | null;
  readonly mcp: 'off' | 'read' | 'write';
  readonly kind: 'key' | 'app';
  readonly app: ConnectedApp | null;
  readonly state: 'active' | 'revoked' | 'expired';
}

interface ApiKeyPage {
  readonly data: readonly ApiKey[];
  readonly replaced: readonly ApiKey[];
  readonly next_cursor: string | null;
}

interface ApiKeyPage2 {
  readonly data: readonly ApiKey[];
}

interface UsageTotals {
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly p95_ms: number | null;
}

interface UsageBucket {
  readonly start: string;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

interface OperationUsage {
  readonly operation: string;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

interface CodeUsage {
  readonly code: string;
  readonly requests: number;
}

interface KeyUsage {
  readonly mcp: number;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly p95_ms: number | null;
  readonly previous: UsageTotals | null;
  readonly buckets: readonly UsageBucket[];
  readonly operations: readonly OperationUsage[];
  readonly codes: readonly CodeUsage[];
}

interface LoggedRequest {
  readonly missing_scope: string | null;
  readonly at: string;
}

interface LoggedRequestPage {
  readonly data: readonly LoggedRequest[];
}

interface LoggedRequest2 {
  readonly at: string;
  readonly face: 'rest' | 'graphql' | 'mcp';
  readonly method: string;
  readonly path: string;
  readonly operation: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly missing_scope: string | null;
}

interface LoggedRequestPage2 {
  readonly data: readonly LoggedRequest2[];
}

interface ApiKey2 {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last_four: string;
}

interface ApiKeyPage3 {
  readonly data: readonly ApiKey2[];
  readonly has_more: boolean;
}

interface ApiKeyPage4 {
  readonly data: readonly ApiKey[];
  readonly next_cursor: string | null;
}

interface ApiKeyPage5 {
  readonly data: readonly ApiKey[];
  readonly has_more: boolean;
}

interface KeyUsage2 {
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly p95_ms: number | null;
  readonly previous: UsageTotals | null;
  readonly buckets: readonly UsageBucket[];
  readonly operations: readonly OperationUsage[];
  readonly codes: readonly CodeUsage[];
}

interface UsageByKey {
  readonly key_id: string;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
}

interface UsageByKeyList {
  readonly data: readonly UsageByKey[];
}

interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: 'member' | 'admin';
  readonly last_sign_in_at: string;
  readonly from: string;
  readonly signed_in: boolean;
}

interface MemberList {
  readonly data: readonly Member[];
  readonly has_more: boolean;
}

interface Invitation {
  readonly id: string;
  readonly name: string;
  readonly role: 'member' | 'admin';
  readonly created_by: string;
  readonly created_at: string;
  readonly expires_at: string;
}

interface InvitationList {
  readonly data: readonly Invitation[];
}

interface NewInvitation {
  readonly url: string;
  readonly invitation: Invitation;
}

interface Invitation2 {
  readonly id: string;
}

interface SignedOut {
  readonly sessions: number;
}

interface AuditEvent {
  readonly id: string;
  readonly at: string;
  readonly times: number;
  readonly last_at: string;
  readonly action: string;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly from: string;
  readonly key_id: string | null;
  readonly details: string;
}

interface AuditEventPage {
  readonly data: readonly AuditEvent[];
  readonly next_cursor: string | null;
}

interface LoggedRequest3 {
  readonly id: string;
  readonly at: string;
  readonly request_id: string;
  readonly key_id: string;
  readonly face: 'rest' | 'graphql' | 'mcp';
  readonly method: string;
  readonly path: string;
  readonly operation: string | null;
  readonly operation_type: 'query' | 'mutation' | 'subscription' | null;
  readonly operation_name: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly reason: 'revoked' | 'expired' | 'address' | null;
  readonly missing_scope: string | null;
  readonly elements: number | null;
  readonly elements_failed: number | null;
  readonly ms: number;
  readonly address: string;
}

interface LoggedRequestPage3 {
  readonly data: readonly LoggedRequest3[];
  readonly next_cursor: string | null;
}

interface RequestInterval {
  readonly start: string;
  readonly successful: number;
  readonly failed: number;
}

interface RequestHistogram {
  readonly interval_seconds: number;
  readonly intervals: readonly RequestInterval[];
}

interface RequestCount {
  readonly key_id: string;
  readonly requests: number;
  readonly missing_scopes: readonly string[];
  readonly last_at: string;
}

interface RequestCountList {
  readonly data: readonly RequestCount[];
}

interface OrderTotal {
  readonly currency: string;
  readonly status:
    'placed' | 'confirmed' | 'in_production' | 'dispatched' | 'delivered' | 'completed' | 'cancelled' | null;
  readonly count: number;
  readonly total_minor: number;
}

interface OrderTotals {
  readonly data: readonly OrderTotal[];
  readonly has_more: boolean;
}

interface OrderTotal2 {
  readonly month: string | null;
  readonly count: number;
  readonly total_minor: number;
}

interface OrderTotals2 {
  readonly data: readonly OrderTotal2[];
  readonly has_more: boolean;
}

interface QuoteTotal {
  readonly currency: string;
  readonly status: 'draft' | 'sent' | 'accepted' | 'declined' | 'expired' | 'withdrawn' | null;
  readonly count: number;
  readonly total_minor: number;
}

interface QuoteTotals {
  readonly data: readonly QuoteTotal[];
  readonly has_more: boolean;
}

interface Customer {
  readonly name: string;
}

interface OrderTotal3 {
  readonly customer_id: string | null;
  readonly customer: Customer | null;
  readonly count: number;
  readonly total_minor: number;
}

interface OrderTotals3 {
  readonly data: readonly OrderTotal3[];
}

interface ProductSale {
  readonly sku: string;
  readonly description: string;
  readonly currency: string;
  readonly uom: string;
  readonly qty: number;
  readonly net_minor: number;
}

interface ProductSales {
  readonly data: readonly ProductSale[];
}

interface NewApiKey {
  readonly key: string;
  readonly api_key: ApiKey;
}

interface ApiKey3 {
  readonly expires_at: string | null;
}

interface RotatedApiKey {
  readonly key: string;
  readonly api_key: ApiKey;
  readonly old: ApiKey3;
}

interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
  readonly customer_ids: readonly string[] | null;
  readonly state: 'enabled' | 'failing' | 'disabled';
  readonly disabled_reason: 'by_hand' | 'failures' | 'gone' | null;
  readonly disabled_at: string | null;
  readonly failing_since: string | null;
  readonly next_attempt_at: string | null;
  readonly last_success_at: string | null;
  readonly waiting: number;
  readonly lag_seconds: number | null;
  readonly old_secret_until: string | null;
  readonly created_by: string;
  readonly created_at: string;
}

interface WebhookEndpointList {
  readonly data: readonly WebhookEndpoint[];
}

interface WebhookAttempt {
  readonly at: string;
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly ms: number;
}

interface WebhookDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly type: string;
  readonly object_id: string | null;
  readonly state: 'delivered' | 'waiting' | 'held' | 'failed' | 'skipped';
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly at: string;
  readonly log: readonly WebhookAttempt[];
}

interface WebhookDeliveryPage {
  readonly data: readonly WebhookDelivery[];
  readonly next_cursor: string | null;
}

interface WebhookBucket {
  readonly start: string;
  readonly delivered: number;
  readonly failed: number;
}

interface WebhookErrorCount {
  readonly status: number | null;
  readonly error: string;
  readonly deliveries: number;
  readonly last_at: string;
}

interface WebhookStatistics {
  readonly webhook_id: string;
  readonly delivered: number;
  readonly failed: number;
  readonly counted_since: string | null;
  readonly p50_ms: number | null;
  readonly buckets: readonly WebhookBucket[];
  readonly errors: readonly WebhookErrorCount[];
}

interface WebhookStatisticsList {
  readonly data: readonly WebhookStatistics[];
}

interface WebhookMessage {
  readonly body: string;
}

interface NewWebhookEndpoint {
  readonly secret: string;
  readonly endpoint: WebhookEndpoint;
}

export interface Calls {
  keys: { variables: { state?: string | null; search?: string | null; cursor?: string | null }; answer: ApiKeyPage };
  key: { variables: { key_id: string }; answer: ApiKey };
  replacedKeys: { variables: { replaced_by: string }; answer: ApiKeyPage2 };
  usage: { variables: { key_id: string; period: 'last_1h' | 'last_24h' | 'last_7d' | 'last_30d' }; answer: KeyUsage };
  missingScopes: { variables: { key_id: string }; answer: LoggedRequestPage };
  firstRequests: { variables: { key_id: string }; answer: LoggedRequestPage2 };
  newestKeys: { variables: {}; answer: ApiKeyPage3 };
  expiringKeys: { variables: { expires_before: string; cursor?: string | null }; answer: ApiKeyPage4 };
  unusedKeys: { variables: { unused_since: string }; answer: ApiKeyPage5 };
  allUsage: { variables: { period: 'last_1h' | 'last_24h' | 'last_7d' | 'last_30d' }; answer: KeyUsage2 };
  usageByKey: { variables: { period: 'last_1h' | 'last_24h' | 'last_7d' | 'last_30d' }; answer: UsageByKeyList };
  members: { variables: {}; answer: MemberList };
  invitations: { variables: {}; answer: InvitationList };
  invite: { variables: { name: string; role: 'member' | 'admin' }; answer: NewInvitation };
  revokeInvitation: { variables: { invitation_id: string }; answer: Invitation2 };
  signOut: { variables: { user_id?: string | null }; answer: SignedOut };
  events: {
    variables: {
      action?: string | null;
      key_id?: string | null;
      actor?: string | null;
      since?: string | null;
      until?: string | null;
      limit?: number | null;
      cursor?: string | null;
    };
    answer: AuditEventPage;
  };
  requests: {
    variables: {
      cursor?: string | null;
      key_id?: string | null;
      failed?: boolean | null;
      status?: string | null;
      face?: 'rest' | 'graphql' | 'mcp' | null;
      search?: string | null;
      since?: string | null;
      until?: string | null;
    };
    answer: LoggedRequestPage3;
  };
  request: { variables: { id: string }; answer: LoggedRequest3 };
  requestHistogram: {
    variables: {
      key_id?: string | null;
      failed?: boolean | null;
      status?: string | null;
      face?: 'rest' | 'graphql' | 'mcp' | null;
      search?: string | null;
      since?: string | null;
      until?: string | null;
    };
    answer: RequestHistogram;
  };
  requestCounts: {
    variables: { code: string; since?: string | null; until?: string | null };
    answer: RequestCountList;
  };
  figures: {
    variables: {
      currency: string;
      from?: string | null;
      to?: string | null;
      sold?:
        | readonly ('placed' | 'confirmed' | 'in_production' | 'dispatched' | 'delivered' | 'completed' | 'cancelled')[]
        | null;
    };
    answer: {
      readonly orders: OrderTotals;
      readonly order_months: OrderTotals2;
      readonly quotes: QuoteTotals;
      readonly quote_months: OrderTotals2;
      readonly customers: OrderTotals3;
      readonly products: ProductSales;
    };
  };
  make: {
    variables: {
      name: string;
      scopes: readonly string[];
      expires_at?: string | null;
      allowed_ranges?: readonly string[] | null;
      mcp?: 'off' | 'read' | 'write' | null;
      customer_ids?: readonly string[] | null;
    };
    answer: NewApiKey;
  };
  rotate: {
    variables: { key_id: string; overlap_hours?: number | null; expires_at?: string | null };
    answer: RotatedApiKey;
  };
  update: {
    variables: {
      key_id: string;
      name?: string | null;
      scopes?: readonly string[] | null;
      expires_at?: string | null;
      allowed_ranges?: readonly string[] | null;
      mcp?: 'off' | 'read' | 'write' | null;
    };
    answer: Invitation2;
  };
  revoke: { variables: { key_id: string }; answer: ApiKey };
  endpoints: { variables: {}; answer: WebhookEndpointList };
  deliveries: {
    variables: {
      webhook_id: string;
      state?: 'delivered' | 'waiting' | 'held' | 'failed' | 'skipped' | null;
      cursor?: string | null;
    };
    answer: WebhookDeliveryPage;
  };
  delivery: { variables: { webhook_id: string; delivery: string }; answer: WebhookDelivery };
  deliveryStatistics: {
    variables: { webhook_id?: string | null; period: 'last_1h' | 'last_24h' | 'last_7d' | 'last_30d' };
    answer: WebhookStatisticsList;
  };
  message: { variables: { webhook_id: string; delivery: string }; answer: WebhookMessage };
  createEndpoint: {
    variables: { url: string; types?: readonly string[] | null; customer_ids?: readonly string[] | null };
    answer: NewWebhookEndpoint;
  };
  updateEndpoint: {
    variables: { webhook_id: string; url?: string | null; types?: readonly string[] | null };
    answer: WebhookEndpoint;
  };
  enableEndpoint: { variables: { webhook_id: string; from?: string | null }; answer: WebhookEndpoint };
  disableEndpoint: { variables: { webhook_id: string }; answer: WebhookEndpoint };
  deleteEndpoint: { variables: { webhook_id: string }; answer: WebhookEndpoint };
  rotateEndpoint: { variables: { webhook_id: string }; answer: NewWebhookEndpoint };
  testEndpoint: { variables: { webhook_id: string }; answer: WebhookAttempt };
  resend: { variables: { webhook_id: string; delivery: string }; answer: WebhookAttempt };
}
