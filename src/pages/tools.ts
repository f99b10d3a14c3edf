import {
  AUTHORIZATION,
  graphiqlPolicy,
  KEY_FORM,
  LOADING,
  ownPolicy,
  type Page,
  SANDBOX_FRAME,
  sandboxPolicy,
} from './page';
import { html, jsonBlock } from './html';
import { EXAMPLE_QUERIES, FIRST_QUERY } from './queries';

/** What a page with a GraphQL tool says in a browser that runs no scripts. */
const withoutScripts = (tool: string) =>
  html`<noscript
    ><p class="notice">
      ${tool} needs JavaScript. Queries go to <code>POST /graphql</code>, with your key as on the
      <a href="/">home page</a>.
    </p></noscript
  >`;

/** `/graphql` in a browser: Apollo Sandbox, or GraphiQL if Apollo's frame cannot be loaded. */
export const sandbox: Page = {
  path: '/graphql',
  policy: sandboxPolicy,
  otherMethods: ['POST'],
  title: 'GraphQL · Scopegate',
  description: 'Apollo Sandbox for the Scopegate schema.',
  current: '/graphql',
  bundle: 'sandbox',
  body: (visit) =>
    html`<h1 class="unseen">GraphQL: Apollo Sandbox</h1>
      ${KEY_FORM}
      <div class="stage" id="sandbox">
        <p class="notice" id="loading" role="status">
          Loading Apollo Sandbox… <a href="/graphiql">Use the bundled GraphiQL instead</a>
        </p>
        ${withoutScripts('Sandbox')}
      </div>
      <p class="aside"><a href="/graphiql">Use GraphiQL instead (contacts no other site)</a></p>
      ${jsonBlock('settings', { frame: SANDBOX_FRAME, document: FIRST_QUERY, authorization: AUTHORIZATION, key: visit.demoKey })}`,
};

/** `/graphiql`: GraphiQL from the installed packages, with examples as tabs. */
export const graphiql: Page = {
  path: '/graphiql',
  policy: graphiqlPolicy,
  title: 'GraphiQL · Scopegate',
  description: 'GraphiQL for the Scopegate schema.',
  current: '/graphql',
  bundle: 'graphiql',
  body: (visit) =>
    html`<h1 class="unseen">GraphQL: GraphiQL</h1>
      ${KEY_FORM}
      <div class="stage" id="graphiql">${LOADING} ${withoutScripts('GraphiQL')}</div>
      ${jsonBlock('settings', { tabs: EXAMPLE_QUERIES, authorization: AUTHORIZATION, introspection: visit.introspection, key: visit.demoKey })}`,
};

/** `/api/v1/docs`: the REST reference, Swagger UI over the published OpenAPI document, with a list of its operations and samples. */
export const reference: Page = {
  path: '/api/v1/docs',
  policy: ownPolicy,
  title: 'REST reference · Scopegate',
  description: 'Every route of the Scopegate REST API, with a client to try them.',
  current: '/api/v1/docs',
  bundle: 'reference',
  body: (visit) =>
    html`<link rel="preload" as="fetch" href="/api/v1/openapi.json" crossorigin />
      <h1 class="unseen" id="title">REST reference</h1>
      ${KEY_FORM}
      <div class="columns">
        <nav id="operations" aria-label="Operations">
          <div class="search">
            <label class="unseen" for="search">Search operations</label>
            <input
              class="input"
              id="search"
              type="search"
              placeholder="Name, path, error code"
              aria-keyshortcuts="/"
              autocomplete="off"
              spellcheck="false"
            />
            <p class="unseen" role="status"></p>
            <p class="none" hidden>
              No operation matches <b></b>. Error codes are listed at <a href="/errors">/errors</a>, webhooks are
              explained at <a href="/webhooks">/webhooks</a>.
              <button class="button" type="button">Clear search</button>
            </p>
            <p class="lost" role="alert"></p>
          </div>
        </nav>
        <div id="reference">
          ${LOADING}
          <noscript
            ><p class="notice">
              The reference needs JavaScript. The OpenAPI document is at
              <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.
            </p></noscript
          >
        </div>
      </div>
      ${jsonBlock('settings', { document: '/api/v1/openapi.json', key: visit.demoKey })}`,
};
