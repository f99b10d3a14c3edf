import { codeBlock } from '../pages/code';
import { html, type Html } from '../pages/html';
import { ELEMENTS_PER_POINT } from '../units';

interface Topic {
  readonly id: string;
  readonly title: string;
  readonly text: Html;
  readonly sample: Html;
}

/** What holds for all operations: docs/contract.md in short, whose numbers are repeated here. */
export const TOPICS: readonly Topic[] = [
  {
    id: 'authentication',
    title: 'Authentication',
    text: html`<p>
        Send an API key as <code>Authorization: Bearer …</code>. A key belongs to one organisation and has scopes such
        as <code>orders:read</code>; each operation names the one that it needs. A scope to write does not include
        reading.
      </p>
      <p>
        Without a valid key the answer is 401, without the scope 403 with <code>required_scope</code>. Keys of a sandbox
        work on its data only. Keep keys on your server, never in a page or an app.
      </p>
      <p><a href="/settings/integrations">Make a key in the settings</a></p>`,
    sample: codeBlock(html`Header of each request`, 'Authentication sample', 'Authorization: Bearer svc_live_…'),
  },
  {
    id: 'errors',
    title: 'Errors',
    text: html`<p>
        Errors are <code>application/problem+json</code> (RFC 9457). Handle them by <code>code</code>, which does not
        change; <code>errors</code> names each faulty member or parameter.
      </p>
      <p>
        Every answer has <code>X-Request-Id</code>. Include it when you contact support, or send your own to find a
        request again.
      </p>
      <p><a href="/errors">All error codes</a></p>`,
    sample: codeBlock(
      html`HTTP 403`,
      'Error sample',
      `{\n  "type": "/errors/insufficient_scope",\n  "title": "Insufficient scope",\n  "status": 403,\n  "code": "insufficient_scope",\n  "required_scope": "orders:read",\n  "request_id": "7f3c1a52-6f0e-4f3c-9b0a-0d9a6f6f2b11"\n}`,
    ),
  },
  {
    id: 'pagination',
    title: 'Pagination',
    text: html`<p>
        A list has up to <code>limit</code> rows (1 to 100, by default 20), newest first unless the operation says
        otherwise. While <code>has_more</code> is true, ask again with <code>cursor</code> set to
        <code>next_cursor</code> and the same filters and sort. In the default sort no row is skipped or repeated.
      </p>
      <p>
        To keep a copy, ask with <code>updated_since</code> set to the largest <code>updated_at</code> that you have.
        Events tell you what was created, changed and deleted.
      </p>
      <p><a href="/guides/webhooks">Have events sent to you by webhook</a></p>`,
    sample: codeBlock(
      html`Page of a list`,
      'Pagination sample',
      `{\n  "data": [ … ],\n  "has_more": true,\n  "next_cursor": "WyJ4IiwiMjAyNiIsIjY4OWRlZmJmIl0"\n}`,
    ),
  },
  {
    id: 'idempotency',
    title: 'Idempotency',
    text: html`<p>
        Send an <code>Idempotency-Key</code>, such as a UUID, with each write. If the same request is sent again within
        24 hours, the first answer is replayed with <code>Idempotent-Replayed: true</code>, and nothing is written
        twice. The same key with a different request is 422.
      </p>
      <p>
        To change an object only if nobody else did, send its <code>ETag</code> as <code>If-Match</code>; the answer is
        412 if it has changed.
      </p>
      <p><a href="/errors/idempotency_key_reused">If an Idempotency-Key was used before</a></p>`,
    sample: codeBlock(
      html`Headers of a write`,
      'Idempotency sample',
      `Idempotency-Key: 7d9f2c1e-5b3a-4c7e-9f21-0a6d8e4b1c35\nIf-Match: "Yk3n0vJr2mXq8sWbT5cLdA9pZ1e"`,
    ),
  },
  {
    id: 'limits',
    title: 'Limits',
    text: html`<p>
        Each key has points per minute, and so has its organisation. A request costs one point; a bulk call costs one
        for each ${ELEMENTS_PER_POINT} elements begun, a file one for each MiB begun. <code>RateLimit</code> says how
        many are left of both; beyond them the answer is 429 with <code>Retry-After</code>.
      </p>
      <p>
        A body has at most 1 MiB, that of a bulk call 5 MiB and 1,000 elements, a file 10 MiB. If too much is in
        progress, the answer is 503 with <code>Retry-After</code>.
      </p>
      <p><a href="/errors/rate_limited">When the limit is exceeded</a></p>`,
    sample: codeBlock(
      html`Headers of an answer`,
      'Limits sample',
      `RateLimit-Policy: "default";q=600;w=60, "organisation";q=6000;w=60\nRateLimit: "default";r=599;t=60, "organisation";r=5980;t=60\nX-RateLimit-Remaining: 599`,
    ),
  },
  {
    id: 'versions',
    title: 'Versions',
    text: html`<p>
        The version is in the path. Within <code>/api/v1</code>, fields, operations and error codes may be added, never
        removed or changed. Ignore members that you do not know.
      </p>
      <p>
        An operation that will end is marked as deprecated, and its answers have <code>Deprecation</code> and
        <code>Sunset</code> with the date.
      </p>
      <p><a href="/api/v1/openapi.json">OpenAPI document, for generators and Postman</a></p>`,
    sample: codeBlock(
      html`Headers of an answer`,
      'Versions sample',
      `Deprecation: @1782864000\nSunset: Thu, 31 Dec 2026 23:59:59 GMT`,
    ),
  },
];

/** The topics one below the other, each beside its sample. */
export const topics = (): readonly Html[] =>
  TOPICS.map(
    ({ id, title, text, sample }) =>
      html`<section class="topic card" id="${id}" aria-labelledby="${id}-title">
        <div>
          <h2 id="${id}-title">${title}</h2>
          ${text}
        </div>
        ${sample}
      </section>`,
  );
