import { AUTHORIZATION, graphiqlPolicy, KEY_FORM, LOADING, type Page, SANDBOX_FRAME, sandboxPolicy } from './page';
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
  title: 'GraphQL',
  description: 'Apollo Sandbox for the schema.',
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
  title: 'GraphiQL',
  description: 'GraphiQL for the schema.',
  current: '/graphql',
  bundle: 'graphiql',
  body: (visit) =>
    html`<h1 class="unseen">GraphQL: GraphiQL</h1>
      ${KEY_FORM}
      <div class="stage" id="graphiql">${LOADING} ${withoutScripts('GraphiQL')}</div>
      ${jsonBlock('settings', { tabs: EXAMPLE_QUERIES, authorization: AUTHORIZATION, introspection: visit.introspection, key: visit.demoKey })}`,
};
