/* Written by npm run openapi, from documents.ts and the SDL. */

export interface Calls {
  keys: {
    readonly variables: {
      readonly state?: string | null | undefined;
      readonly search?: string | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
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
        }[];
        readonly replaced: readonly {
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
        }[];
        readonly next_cursor: string | null;
      } | null;
    };
  };
  key: {
    readonly variables: { readonly id: string };
    readonly answer: {
      readonly value: {
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
      } | null;
    };
  };
  replacedKeys: {
    readonly variables: { readonly replaced_by: string };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
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
        }[];
      } | null;
    };
  };
  usage: {
    readonly variables: { readonly id: string; readonly period: 'last_24h' | 'last_30d' };
    readonly answer: {
      readonly value: {
        readonly requests: number;
        readonly errors: number;
        readonly rate_limited: number;
        readonly mcp: number;
        readonly buckets: readonly {
          readonly start: string;
          readonly requests: number;
          readonly errors: number;
          readonly rate_limited: number;
        }[];
        readonly operations: readonly {
          readonly operation: string;
          readonly requests: number;
          readonly errors: number;
          readonly rate_limited: number;
          readonly p50_ms: number | null;
          readonly p95_ms: number | null;
        }[];
        readonly codes: readonly { readonly code: string; readonly requests: number }[];
      } | null;
    };
  };
  newestKeys: {
    readonly variables: {};
    readonly answer: {
      readonly value: {
        readonly data: readonly {
          readonly id: string;
          readonly name: string;
          readonly prefix: string;
          readonly last_four: string;
        }[];
        readonly has_more: boolean;
      } | null;
    };
  };
  expiringKeys: {
    readonly variables: { readonly expires_before: string; readonly cursor?: string | null | undefined };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
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
        }[];
        readonly next_cursor: string | null;
      } | null;
    };
  };
  allUsage: {
    readonly variables: { readonly period: 'last_24h' | 'last_30d' };
    readonly answer: {
      readonly value: {
        readonly requests: number;
        readonly errors: number;
        readonly rate_limited: number;
        readonly buckets: readonly {
          readonly start: string;
          readonly requests: number;
          readonly errors: number;
          readonly rate_limited: number;
        }[];
        readonly operations: readonly {
          readonly operation: string;
          readonly requests: number;
          readonly errors: number;
          readonly rate_limited: number;
          readonly p50_ms: number | null;
          readonly p95_ms: number | null;
        }[];
        readonly codes: readonly { readonly code: string; readonly requests: number }[];
      } | null;
    };
  };
  members: {
    readonly variables: {};
    readonly answer: {
      readonly value: {
        readonly data: readonly {
          readonly id: string;
          readonly name: string;
          readonly role: 'member' | 'admin';
          readonly last_sign_in_at: string;
          readonly from: string;
          readonly signed_in: boolean;
        }[];
        readonly has_more: boolean;
      } | null;
    };
  };
  events: {
    readonly variables: {
      readonly action?: string | null | undefined;
      readonly key_id?: string | null | undefined;
      readonly limit?: number | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
          readonly id: string;
          readonly at: string;
          readonly action: string;
          readonly actor: string;
          readonly actor_name: string | null;
          readonly from: string;
          readonly key_id: string | null;
          readonly details: string;
        }[];
        readonly next_cursor: string | null;
      } | null;
    };
  };
  keyEvents: {
    readonly variables: { readonly key_id: string; readonly cursor?: string | null | undefined };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
          readonly id: string;
          readonly at: string;
          readonly action: string;
          readonly actor: string;
          readonly actor_name: string | null;
          readonly from: string;
          readonly key_id: string | null;
          readonly details: string;
        }[];
        readonly next_cursor: string | null;
      } | null;
    };
  };
  requests: {
    readonly variables: {
      readonly key_id?: string | null | undefined;
      readonly failed?: boolean | null | undefined;
      readonly status?: string | null | undefined;
      readonly face?: 'rest' | 'graphql' | 'mcp' | null | undefined;
      readonly operation?: string | null | undefined;
      readonly request_id?: string | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
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
          readonly ms: number;
          readonly address: string;
          readonly similar: number;
        }[];
        readonly next_cursor: string | null;
      } | null;
    };
  };
  make: {
    readonly variables: {
      readonly name: string;
      readonly scopes: readonly string[];
      readonly expires_at?: string | null | undefined;
      readonly allowed_ranges?: readonly string[] | null | undefined;
      readonly mcp?: 'off' | 'read' | 'write' | null | undefined;
    };
    readonly answer: {
      readonly value: {
        readonly key: string;
        readonly api_key: {
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
        };
      } | null;
    };
  };
  rotate: {
    readonly variables: {
      readonly id: string;
      readonly overlap_hours?: number | null | undefined;
      readonly expires_at?: string | null | undefined;
    };
    readonly answer: {
      readonly value: {
        readonly key: string;
        readonly api_key: {
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
        };
        readonly old: { readonly expires_at: string | null };
      } | null;
    };
  };
  update: {
    readonly variables: {
      readonly id: string;
      readonly name?: string | null | undefined;
      readonly expires_at?: string | null | undefined;
      readonly allowed_ranges?: readonly string[] | null | undefined;
      readonly mcp?: 'off' | 'read' | 'write' | null | undefined;
    };
    readonly answer: { readonly value: { readonly id: string } | null };
  };
  revoke: {
    readonly variables: { readonly id: string };
    readonly answer: {
      readonly value: {
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
      } | null;
    };
  };
  endpoints: {
    readonly variables: {};
    readonly answer: {
      readonly value: {
        readonly data: readonly {
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
        }[];
      } | null;
    };
  };
  deliveries: {
    readonly variables: {
      readonly endpoint: string;
      readonly state?: 'delivered' | 'waiting' | 'held' | 'failed' | 'skipped' | null | undefined;
      readonly cursor?: string | null | undefined;
    };
    readonly answer: {
      readonly value: {
        readonly data: readonly {
          readonly id: string;
          readonly event_id: string;
          readonly type: string;
          readonly object_id: string | null;
          readonly state: 'delivered' | 'waiting' | 'held' | 'failed' | 'skipped';
          readonly attempts: number;
          readonly next_attempt_at: string | null;
          readonly at: string;
          readonly log: readonly {
            readonly at: string;
            readonly ok: boolean;
            readonly status: number | null;
            readonly error: string | null;
            readonly answer: string | null;
            readonly ms: number;
          }[];
        }[];
        readonly next_cursor: string | null;
      } | null;
    };
  };
  createEndpoint: {
    readonly variables: { readonly url: string; readonly types?: readonly string[] | null | undefined };
    readonly answer: {
      readonly value: {
        readonly secret: string;
        readonly endpoint: {
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
        };
      } | null;
    };
  };
  updateEndpoint: {
    readonly variables: {
      readonly id: string;
      readonly url?: string | null | undefined;
      readonly types?: readonly string[] | null | undefined;
    };
    readonly answer: {
      readonly value: {
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
      } | null;
    };
  };
  enableEndpoint: {
    readonly variables: { readonly id: string; readonly from?: string | null | undefined };
    readonly answer: {
      readonly value: {
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
      } | null;
    };
  };
  disableEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: {
      readonly value: {
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
      } | null;
    };
  };
  deleteEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: {
      readonly value: {
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
      } | null;
    };
  };
  rotateEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: {
      readonly value: {
        readonly secret: string;
        readonly endpoint: {
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
        };
      } | null;
    };
  };
  testEndpoint: {
    readonly variables: { readonly id: string };
    readonly answer: {
      readonly value: {
        readonly at: string;
        readonly ok: boolean;
        readonly status: number | null;
        readonly error: string | null;
        readonly answer: string | null;
        readonly ms: number;
      } | null;
    };
  };
  resend: {
    readonly variables: { readonly endpoint: string; readonly delivery: string };
    readonly answer: {
      readonly value: {
        readonly at: string;
        readonly ok: boolean;
        readonly status: number | null;
        readonly error: string | null;
        readonly answer: string | null;
        readonly ms: number;
      } | null;
    };
  };
}
