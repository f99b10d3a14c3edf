import { ownPolicy } from './contentSecurity';
import { html, type Html } from './html';
import { layout } from './layout';
import type { Page, Visit } from './page';

/** `/`: what this is, whether it is up, and the ways in. */
export const landing: Page = { path: '/', policy: ownPolicy, render };

const INTROSPECTION: Readonly<Record<Visit['introspection'], string>> = {
  public: 'Anyone may introspect the schema.',
  key: 'Introspection takes a valid key.',
  off: 'Introspection is switched off here.',
};

/** Stands in commands for the address in the browser, which a proxy may have changed; the script puts it there. */
const ORIGIN = 'http://127.0.0.1:4000';

function render(visit: Visit): Html {
  return layout({
    title: 'Scopegate',
    description:
      "An organisation's quotes, products, orders, customers and request threads, as GraphQL and REST behind scoped keys.",
    version: visit.version,
    scripts: ['landing.js'],
    body: html`<section class="hero">
        <p class="status" id="status" role="status" data-state="unknown">Checking…</p>
        <h1>One schema. Two faces. Scoped keys.</h1>
        <p class="lead">
          An organisation’s quotes, products, orders, customers and request threads, served as one GraphQL schema and as
          a REST facade generated from it, to holders of scoped API keys.
        </p>
      </section>
      ${waysIn(visit)} ${firstCalls(visit)}
      <section aria-labelledby="rules">
        <h2 id="rules">Good to know</h2>
        <dl class="facts">
          <div>
            <dt>Same on both faces</dt>
            <dd>
              An operation takes the same arguments, scope and limits on REST and GraphQL and fails with the same codes;
              GraphQL adds relations. Money is an integer in minor units, times are UTC, ids are UUIDs.
            </dd>
          </div>
          <div>
            <dt>Errors</dt>
            <dd>
              REST answers with <code>application/problem+json</code>; GraphQL carries the same <code>code</code> in
              <code>extensions</code>. <a href="/errors">All codes, and what to do</a>.
            </dd>
          </div>
          <div>
            <dt>Safe retries</dt>
            <dd>
              Send an <code>Idempotency-Key</code> with a write and repeat it as often as you need to: it happens once.
            </dd>
          </div>
          <div>
            <dt>Limits</dt>
            <dd>Each key has a budget a minute. <code>RateLimit</code> headers on every answer say what is left.</dd>
          </div>
        </dl>
      </section>`,
  });
}

function waysIn(visit: Visit): Html {
  return html`<section aria-labelledby="ways">
    <h2 id="ways">Three ways in</h2>
    <ul class="cards">
      <li>
        <h3><a href="/api/v1/docs">REST reference</a></h3>
        <p>Every route with its parameters, answers and errors. Put your key in and try it from the page.</p>
        <p class="path"><code>/api/v1</code></p>
      </li>
      <li>
        <h3><a href="/graphql">GraphQL</a></h3>
        <p>
          Apollo Sandbox with a first query, or the bundled <a href="/graphiql">GraphiQL</a> where there is no internet.
          ${INTROSPECTION[visit.introspection]}
        </p>
        <p class="path"><code>POST /graphql</code></p>
      </li>
      <li>
        <h3><a href="/settings/integrations">A key of your own</a></h3>
        <p>
          A key belongs to one organisation and holds the scopes you give it. Admins make it in the settings, operators
          so:
        </p>
        ${copyable('A key', 'npx scopegate key create --org ID --name NAME --scopes quotes:read,customers:read')}
      </li>
    </ul>
  </section>`;
}

function firstCalls(visit: Visit): Html {
  const key = visit.demoKey ?? '$SCOPEGATE_KEY';
  return html`<section aria-labelledby="calls">
    <h2 id="calls">First calls</h2>
    ${visit.demoKey === undefined ? undefined : html`<p>These carry the key of this demo and run as they are. Only this machine is shown it.</p>`}
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
  return `curl -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\
  -d '{"query":"{ quotes(limit: 3) { data { number total_minor lines { description qty } } } }"}' \\
  "${ORIGIN}/graphql"`;
}

/** A command, with a button that the script shows where the browser can copy. */
function copyable(name: string, command: string): Html {
  const [start = '', ...rest] = command.split(ORIGIN);
  const code = [html`${start}`, ...rest.map((piece) => html`<span data-origin>${ORIGIN}</span>${piece}`)];
  return html`<div class="command">
    <pre tabindex="0" aria-label="${name} command"><code>${code}</code></pre>
    <button class="own-button" type="button" hidden>Copy</button>
  </div>`;
}
