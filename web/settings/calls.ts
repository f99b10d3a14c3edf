/* Written by npm run openapi, from documents.ts and the SDL. */

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
  readonly rotated_to: string | null;
  readonly mcp: 'off' | 'read' | 'write';
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

interface UsageBucket {
  readonly start: string;
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
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
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly mcp: number;
  readonly buckets: readonly UsageBucket[];
  readonly operations: readonly OperationUsage[];
  readonly codes: readonly CodeUsage[];
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

interface KeyUsage2 {
  readonly requests: number;
  readonly errors: number;
  readonly rate_limited: number;
  readonly buckets: readonly UsageBucket[];
  readonly operations: readonly OperationUsage[];
  readonly codes: readonly CodeUsage[];
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

interface AuditEvent {
  readonly id: string;
  readonly at: string;
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

interface LoggedRequest {
  readonly id: string;
  readonly at: string;
  readonly request_id: string;
  readonly key_id: string;
  readonly face: 'rest' | 'graphql' | 'mcp';
  readonly method: string;
  readonly path: string;
  readonly operation: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly reason: 'revoked' | 'expired' | 'address' | null;
  readonly missing_scope: string | null;
  readonly ms: number;
  readonly address: string;
  readonly similar: number;
}

interface LoggedRequestPage {
  readonly data: readonly LoggedRequest[];
  readonly next_cursor: string | null;
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

interface ApiKey4 {
  readonly id: string;
}

interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[];
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

interface WebhookMessage {
  readonly body: string;
}

interface NewWebhookEndpoint {
  readonly secret: string;
  readonly endpoint: WebhookEndpoint;
}

export interface Calls {
  keys: {
    readonly variables: {
      readonly state?: string | null | undefined;
      readonly search?: string | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: { readonly value: ApiKeyPage | null };
  };
  key: { readonly variables: { readonly id: string }; readonly answer: { readonly value: ApiKey | null } };
  replacedKeys: {
    readonly variables: { readonly replaced_by: string };
    readonly answer: { readonly value: ApiKeyPage2 | null };
  };
  usage: {
    readonly variables: { readonly id: string; readonly period: 'last_24h' | 'last_30d' };
    readonly answer: { readonly value: KeyUsage | null };
  };
  newestKeys: { readonly variables: {}; readonly answer: { readonly value: ApiKeyPage3 | null } };
  expiringKeys: {
    readonly variables: { readonly expires_before: string; readonly cursor?: string | null | undefined };
    readonly answer: { readonly value: ApiKeyPage4 | null };
  };
  allUsage: {
    readonly variables: { readonly period: 'last_24h' | 'last_30d' };
    readonly answer: { readonly value: KeyUsage2 | null };
  };
  members: { readonly variables: {}; readonly answer: { readonly value: MemberList | null } };
  events: {
    readonly variables: {
      readonly action?: string | null | undefined;
      readonly key_id?: string | null | undefined;
      readonly limit?: number | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: { readonly value: AuditEventPage | null };
  };
  keyEvents: {
    readonly variables: { readonly key_id: string; readonly cursor?: string | null | undefined };
    readonly answer: { readonly value: AuditEventPage | null };
  };
  requests: {
    readonly variables: {
      readonly key_id?: string | null | undefined;
      readonly failed?: boolean | null | undefined;
      readonly status?: string | null | undefined;
      readonly code?: string | null | undefined;
      readonly face?: 'rest' | 'graphql' | 'mcp' | null | undefined;
      readonly operation?: string | null | undefined;
      readonly request_id?: string | null | undefined;
      readonly since?: string | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: { readonly value: LoggedRequestPage | null };
  };
  requestCounts: {
    readonly variables: { readonly code: string; readonly since?: string | null | undefined };
    readonly answer: { readonly value: RequestCountList | null };
  };
  make: {
    readonly variables: {
      readonly name: string;
      readonly scopes: readonly string[];
      readonly expires_at?: string | null | undefined;
      readonly allowed_ranges?: readonly string[] | null | undefined;
      readonly mcp?: 'off' | 'read' | 'write' | null | undefined;
    };
    readonly answer: { readonly value: NewApiKey | null };
  };
  rotate: {
    readonly variables: {
      readonly id: string;
      readonly overlap_hours?: number | null | undefined;
      readonly expires_at?: string | null | undefined;
    };
    readonly answer: { readonly value: RotatedApiKey | null };
  };
  update: {
    readonly variables: {
      readonly id: string;
      readonly name?: string | null | undefined;
      readonly expires_at?: string | null | undefined;
      readonly allowed_ranges?: readonly string[] | null | undefined;
      readonly mcp?: 'off' | 'read' | 'write' | null | undefined;
    };
    readonly answer: { readonly value: ApiKey4 | null };
  };
  revoke: { readonly variables: { readonly id: string }; readonly answer: { readonly value: ApiKey | null } };
  endpoints: { readonly variables: {}; readonly answer: { readonly value: WebhookEndpointList | null } };
  deliveries: {
    readonly variables: {
      readonly endpoint: string;
      readonly state?: 'delivered' | 'waiting' | 'held' | 'failed' | 'skipped' | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: { readonly value: WebhookDeliveryPage | null };
  };
  message: {
    readonly variables: { readonly endpoint: string; readonly delivery: string };
    readonly answer: { readonly value: WebhookMessage | null };
  };
  createEndpoint: {
    readonly variables: { readonly url: string; readonly types?: readonly string[] | null | undefined };
    readonly answer: { readonly value: NewWebhookEndpoint | null };
  };
  updateEndpoint: {
    readonly variables: {
      readonly id: string;
      readonly url?: string | null | undefined;
      readonly types?: readonly string[] | null | undefined;
    };
    readonly answer: { readonly value: WebhookEndpoint | null };
  };
  enableEndpoint: {
    readonly variables: { readonly id: string; readonly from?: string | null | undefined };
    readonly answer: { readonly value: WebhookEndpoint | null };
  };
  disableEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: { readonly value: WebhookEndpoint | null };
  };
  deleteEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: { readonly value: WebhookEndpoint | null };
  };
  rotateEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: { readonly value: NewWebhookEndpoint | null };
  };
  testEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: { readonly value: WebhookAttempt | null };
  };
  resend: {
    readonly variables: { readonly endpoint: string; readonly delivery: string };
    readonly answer: { readonly value: WebhookAttempt | null };
  };
}
