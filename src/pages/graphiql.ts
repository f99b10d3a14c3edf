import { graphiqlPolicy } from './contentSecurity';
import { html, jsonBlock } from './html';
import { KEY_FORM, LOADING } from './keyForm';
import { AUTHORIZATION, type Page } from './page';
import { EXAMPLE_QUERIES } from './queries';

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
