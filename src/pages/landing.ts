import { ownPolicy, type Page, type Visit } from './page';
import { html, type Html } from './html';

const INTROSPECTION: Readonly<Record<Visit['introspection'], string>> = {
  public: 'Anyone may introspect the schema.',
  key: 'Introspection requires a valid key.',
  off: 'Introspection is disabled.',
};

/** Placeholder in commands; the script replaces it with the browser's origin, which a proxy may have changed. */
const ORIGIN = 'http://127.0.0.1:4000';

/** `/`: what Scopegate is, its status, and how to use it. */
export const landing: Page = {
  path: '/',
  policy: ownPolicy,
  title: 'Scopegate',
  description:
    "An organisation's quotes, products, orders, customers and request threads, as GraphQL and REST APIs with scoped keys.",
  bundle: 'landing',
  body: (visit) =>
    html`<section class="hero">
        <p class="status" id="status" role="status" data-state="unknown">Checking…</p>
        <h1>One schema. Two APIs. Scoped keys.</h1>
        <p class="lead">
          An organisation’s quotes, products, orders, customers and request threads, through one GraphQL schema and a
          REST API generated from it, with scoped API keys.
        </p>
      </section>
      ${waysIn(visit)} ${firstCalls(visit)}
      <section aria-labelledby="rules">
        <h2 id="rules">Good to know</h2>
        <dl class="facts">
          <div>
            <dt>The same in both APIs</dt>
            <dd>
              An operation has the same arguments, scopes, limits and error codes in REST and GraphQL; GraphQL adds
              relations. Amounts are integers in minor units, times are in UTC, ids are UUIDs.
            </dd>
          </div>
          <div>
            <dt>Errors</dt>
            <dd>
              REST errors are <code>application/problem+json</code>; GraphQL errors have the same <code>code</code> in
              <code>extensions</code>. <a href="/errors">See all codes</a>.
            </dd>
          </div>
          <div>
            <dt>Safe retries</dt>
            <dd>
              Send an <code>Idempotency-Key</code> with each write, and retry safely: the write happens only once.
            </dd>
          </div>
          <div>
            <dt>Limits</dt>
            <dd>Each key has a rate limit per minute. <code>RateLimit</code> headers show what is left.</dd>
          </div>
        </dl>
      </section>`,
};

function waysIn(visit: Visit): Html {
  return html`<section aria-labelledby="ways">
    <h2 id="ways">Get started</h2>
    <ul class="cards">
      <li>
        <h3><a href="/api/v1/docs">REST reference</a></h3>
        <p>Every route with its parameters, responses and errors. Enter your key and try requests on the page.</p>
        <p class="path"><code>/api/v1</code></p>
      </li>
      <li>
        <h3><a href="/graphql">GraphQL</a></h3>
        <p>
          Apollo Sandbox with an example query; where it cannot be loaded, the bundled
          <a href="/graphiql">GraphiQL</a> opens, which works offline. ${INTROSPECTION[visit.introspection]}
        </p>
        <p class="path"><code>POST /graphql</code></p>
      </li>
      <li>
        <h3><a href="/settings/integrations">Get an API key</a></h3>
        <p>
          A key belongs to one organisation and has the scopes you choose. Admins create it in Settings; operators with:
        </p>
        ${copyable('Create a key', 'npx scopegate key create --org ID --name NAME --scopes quotes:read,customers:read')}
      </li>
    </ul>
  </section>`;
}

function firstCalls(visit: Visit): Html {
  const key = visit.demoKey ?? '$SCOPEGATE_KEY';
  return html`<section aria-labelledby="calls">
    <h2 id="calls">Make your first requests</h2>
    ${visit.demoKey === undefined ? undefined : html`<p>These use this demo’s key and work as they are. The key is only shown on this machine.</p>`}
    <h3>REST</h3>
    ${copyable('REST', restCall(key))}
    <h3>GraphQL</h3>
    ${copyable('GraphQL', graphqlCall(key))}
  </section>`;
}

function restCall(key: string): string {
  return `curl -H "Authorization: Bearer ${key}" \\
  "${ORIGIN}/api/v1/quotes?status=accepted&limit=3"`;
}

function graphqlCall(key: string): string {
  return `curl -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"query":"{ quotes(limit: 3) { data { number total_minor lines { description qty } } } }"}' \\
  "${ORIGIN}/graphql"`;
}

/** A command with a copy button, which the script shows if the browser supports it. */
function copyable(name: string, command: string): Html {
  const [start = '', ...rest] = command.split(ORIGIN);
  const code = [html`${start}`, ...rest.map((piece) => html`<span data-origin>${ORIGIN}</span>${piece}`)];
  return html`<div class="command">
    <pre tabindex="0" aria-label="${name} command"><code>${code}</code></pre>
    <button class="own-button" type="button" hidden>Copy</button>
  </div>`;
}
