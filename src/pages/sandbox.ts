import { graphiqlPolicy, SANDBOX_FRAME, sandboxPolicy } from './contentSecurity';
import { html, jsonBlock } from './html';
import { AUTHORIZATION, KEY_FORM, LOADING, type Page } from './page';
import { EXAMPLE_QUERIES, FIRST_QUERY } from './queries';

/** `/graphql` in a browser: Apollo Sandbox, or GraphiQL if Apollo's frame cannot be loaded. */
export const sandbox: Page = {
  path: '/graphql',
  policy: sandboxPolicy,
  otherMethods: ['POST'],
  title: 'GraphQL · Scopegate',
  description: 'Apollo Sandbox for the Scopegate schema.',
  current: '/graphql',
  kind: 'tool',
  styles: ['key.css'],
  module: 'sandbox.js',
  body: (visit) =>
    html`<h1 class="unseen">GraphQL: Apollo Sandbox</h1>
      ${KEY_FORM}
      <div class="stage" id="sandbox">
        <p class="notice" id="loading" role="status">
          Loading Apollo Sandbox… <a href="/graphiql">Use the bundled GraphiQL instead</a>
        </p>
        <noscript
          ><p class="notice">
            Sandbox needs JavaScript. You can send queries to <code>POST /graphql</code>; the
            <a href="/">home page</a> shows how.
          </p></noscript
        >
      </div>
      <p class="aside"><a href="/graphiql">Use GraphiQL instead (asks no other site)</a></p>
      ${jsonBlock('settings', { frame: SANDBOX_FRAME, document: FIRST_QUERY, authorization: AUTHORIZATION, key: visit.demoKey })}`,
};

/** `/graphiql`: GraphiQL from the installed packages, with examples as tabs. */
export const graphiql: Page = {
  path: '/graphiql',
  policy: graphiqlPolicy,
  title: 'GraphiQL · Scopegate',
  description: 'GraphiQL for the Scopegate schema.',
  current: '/graphql',
  kind: 'tool',
  styles: ['vendor/graphiql.css', 'key.css'],
  scripts: ['repairs.js', 'vendor/react.js', 'vendor/react-dom.js', 'vendor/graphiql.js'],
  module: 'graphiql.js',
  body: (visit) =>
    html`<h1 class="unseen">GraphQL: GraphiQL</h1>
      ${KEY_FORM}
      <div class="stage" id="graphiql">
        ${LOADING}
        <noscript
          ><p class="notice">
            GraphiQL needs JavaScript. You can send queries to <code>POST /graphql</code>; the
            <a href="/">home page</a> shows how.
          </p></noscript
        >
      </div>
      ${jsonBlock('settings', { tabs: EXAMPLE_QUERIES, authorization: AUTHORIZATION, introspection: visit.introspection, key: visit.demoKey })}`,
};
