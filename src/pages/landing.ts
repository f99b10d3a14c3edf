import { RETRIED_HOURS } from '../units';
import { codeBlock, COPY, ORIGIN, pre } from './code';
import { html, type Html } from './html';
import { ownPolicy, type Page, type Visit } from './page';

const INTROSPECTION: Readonly<Record<Visit['introspection'], string>> = {
  public: 'Anyone may introspect the schema.',
  key: 'Introspection requires a valid key.',
  off: 'Introspection is disabled.',
};

/** The first request in each language, and its answer; tests run them as they are. */
export const SAMPLES = {
  curl: `curl "${ORIGIN}/api/v1/products?q=chai&limit=1" \\
  -H "Authorization: Bearer $SCOPEGATE_KEY"`,
  TypeScript: `import { Scopegate } from '@scopegate/client';

// the key is in SCOPEGATE_KEY
const api = new Scopegate({ url: '${ORIGIN}' });
const query = { q: 'chai', limit: 1 };
console.log(await api.get('/products', { query }));`,
  Python: `from scopegate import Scopegate

# the key is in SCOPEGATE_KEY
api = Scopegate(url="${ORIGIN}")
print(api.get("/products", q="chai", limit=1))`,
} as const;

export const ANSWER = `{
  "data": [
    {
      "id": "689defbf-4477-5b15-966e-4830b650ded3",
      "sku": "NW-001",
      "name": "Chai",
      "external_ref": null,
      "description": "10 boxes x 20 bags",
      "category": "Beverages",
      "uom": "each",
      "currency": "USD",
      "unit_price_minor": 1800,
      "vat_exempt": true,
      "lead_time_days": null,
      "active": true,
      "metadata": {
        "supplier": "Exotic Liquids"
      },
      "attachments": [],
      "created_at": "1996-06-01T00:00:00.000Z",
      "updated_at": "1996-06-01T00:00:00.000Z"
    }
  ],
  "has_more": false,
  "next_cursor": null
}`;

const PURPOSE =
  'An organisation’s quotes, products, orders, customers and request threads over REST, GraphQL and MCP: the same operations, scopes, limits and error codes in each.';

/** A first request other than that of SAMPLES, such as for a schema of one's own. */
export interface FirstCall {
  /** Of its route, such as `/projects`. */
  readonly path: string;
  readonly isList: boolean;
  /** Made at the first visit. */
  readonly answer: () => unknown;
}

function samplesOf({ path, isList }: FirstCall): Record<keyof typeof SAMPLES, string> {
  return {
    curl: `curl "${ORIGIN}/api/v1${path}${isList ? '?limit=1' : ''}" \\
  -H "Authorization: Bearer $SCOPEGATE_KEY"`,
    TypeScript: `import { Scopegate } from '@scopegate/client';

// the key is in SCOPEGATE_KEY
const api = new Scopegate({ url: '${ORIGIN}' });
console.log(await api.get('${path}'${isList ? ', { query: { limit: 1 } }' : ''}));`,
    Python: `from scopegate import Scopegate

# the key is in SCOPEGATE_KEY
api = Scopegate(url="${ORIGIN}")
print(api.get("${path}"${isList ? ', limit=1' : ''}))`,
  };
}

/** `/`: what the API is, its status, and how to use it; `purpose` (BRAND_DESCRIPTION) and `call` are shown in place of ours. */
export const landing = (purpose?: string, call?: FirstCall): Page => ({
  path: '/',
  policy: ownPolicy,
  description: purpose ?? PURPOSE,
  bundle: 'prose',
  body: (visit) =>
    html`<div class="hero">
        <section aria-labelledby="title">
          <p class="hint" id="status" role="status" data-state="unknown">Checking…</p>
          <h1 id="title">One schema.<br />Three APIs.<br />Scoped keys.</h1>
          <p class="lead">${purpose ?? PURPOSE}</p>
          <p class="buttons">
            <a class="button primary" href="/settings/keys">Get an API key</a>
            <a class="button" href="/guides/quickstart">Quickstart</a>
            <a class="button" href="/api/v1/docs">REST reference</a>
            <a class="button" href="/graphql">GraphQL</a>
          </p>
        </section>
        ${firstRequest(visit, call)}
      </div>
      <section aria-labelledby="faces">
        <h2 id="faces">APIs and events</h2>
        <dl class="rows">
          ${row(html`<a href="/api/v1/docs">REST</a>`, 'GET /api/v1/…', html`Every route with its parameters, answers and errors. Enter your key and send requests from the page.`)}
          ${row(
            html`<a href="/graphql">GraphQL</a>`,
            'POST /graphql',
            html`The same operations, with relations and totals. Apollo Sandbox opens, or the bundled
              <a href="/graphiql">GraphiQL</a>, which works offline. ${INTROSPECTION[visit.introspection]}`,
          )}
          ${row(html`MCP`, 'POST /mcp', html`The same operations as tools for AI assistants. Each key is set to off, read or write for it.`)}
          ${row(html`Events`, 'GET /api/v1/events', html`What was created, changed and deleted, in order. <code>wait</code> waits for the next event; the subscription <code>events</code> streams them.`)}
          ${row(html`<a href="/guides/webhooks">Webhooks</a>`, 'POST to your server', html`The same events sent to you: signed, in order for each object, retried for ${RETRIED_HOURS} hours.`)}
        </dl>
      </section>
      <section aria-labelledby="rules">
        <h2 id="rules">What you can rely on</h2>
        <dl class="rows">
          ${row(html`<a href="/errors">Errors</a>`, 'code', html`REST errors are <code>application/problem+json</code>; GraphQL errors have the same <code>code</code> in <code>extensions</code>.`)}
          ${row(html`Safe retries`, 'Idempotency-Key', html`Send one with each write: however often you retry, the write happens once.`)}
          ${row(html`Limits`, 'RateLimit', html`Each key has a rate limit per minute. Responses report what is left.`)}
          ${row(html`Values`, 'total_minor', html`Amounts are integers in minor units, times are in UTC, ids are UUIDs.`)}
        </dl>
      </section>`,
});

function row(name: Html, code: string, text: Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd><code>${code}</code></dd>
    <dd>${text}</dd>
  </div>`;
}

/** The first request in three languages. Radio buttons choose one, so that it works without scripts. */
function firstRequest({ demoKey }: Visit, call: FirstCall | undefined): Html {
  const languages = Object.entries(call ? samplesOf(call) : SAMPLES);
  const answer = call ? JSON.stringify(call.answer(), undefined, 2) : ANSWER;
  return html`<section class="first" aria-label="First request">
    <div class="code">
      <div class="code-bar">
        <fieldset class="tabs">
          <legend class="unseen">Language</legend>
          ${languages.map(([name], at) => html`<input class="unseen" type="radio" name="language" id="in-${name}" ${at === 0 ? html`checked` : undefined} /><label for="in-${name}">${name}</label>`)}
        </fieldset>
        ${COPY}
      </div>
      ${languages.map(([name, text]) => html`<div class="in-${name}">${pre(`${name} sample`, demoKey === undefined ? text : text.replace('$SCOPEGATE_KEY', demoKey))}</div>`)}
    </div>
    ${codeBlock(html`<span class="good">HTTP 200</span>`, 'Answer', answer)}
    ${demoKey === undefined ? undefined : html`<p class="hint">The curl command has this demo’s key and works as it is. The key is only shown on this machine.</p>`}
  </section>`;
}
