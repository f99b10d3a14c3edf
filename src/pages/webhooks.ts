import { codeBlock } from './code';
import { html, type Html } from './html';
import { ownPolicy, type Page } from './page';

/** A receiver for Node.js, as the page shows it; it reads its secret from WEBHOOK_SIGNING_SECRET. */
export const RECEIVER = `// npm install express standardwebhooks
const express = require('express');
const { Webhook } = require('standardwebhooks');

const webhook = new Webhook(process.env.WEBHOOK_SIGNING_SECRET);
const seen = new Set(); // in production: a table with a unique key

// the signature is of the bytes that arrived, so do not parse them before
const server = express().post('/hooks', express.raw({ type: '*/*' }), (request, response) => {
  let event;
  try {
    event = webhook.verify(request.body, request.headers);
  } catch {
    return response.sendStatus(401);
  }
  if (!seen.has(event.id)) {
    seen.add(event.id);
    console.log(event.type, event.object?.id);
  }
  response.sendStatus(204); // at once; do what takes long afterwards
});
server.listen(process.env.PORT ?? 3000);`;

const EVENT = `{
  "id": "4f0cbb4e-6d0c-5a53-8f1c-2b6a4f6d3c11",
  "type": "order.status_changed",
  "occurred_at": "2026-07-01T10:03:05.120Z",
  "object": { "type": "order", "id": "0b7e9c1a-52f4-4e7e-9d0d-3f1f5b0a7c42" },
  "changes": ["status", "updated_at"],
  "status": "dispatched",
  "related": null,
  "gap": null,
  "origin": { "kind": "other", "id": null, "name": null }
}`;

/** The parts of the guide, each with the id that its link in the table of contents has. */
const PARTS: readonly { readonly id: string; readonly title: string; readonly body: Html }[] = [
  {
    id: 'arrives',
    title: 'What arrives',
    body: html`<p>
        The event, not the object: fetch the object by its id with an API key. The same events, with the same ids, are
        in
        <code>GET /api/v1/events</code>.
      </p>
      ${codeBlock(html`Body of the POST`, 'Example of an event', EVENT)}`,
  },
  {
    id: 'signature',
    title: 'Check the signature, then answer at once',
    body: html`<p>
        Requests are signed according to the open Standard Webhooks specification, in the headers
        <code>webhook-id</code>, <code>webhook-timestamp</code> and <code>webhook-signature</code>. It has libraries for
        most languages. Any answer from 200 to 299 within 15 seconds accepts the event; redirects are not followed.
      </p>
      ${codeBlock(html`Node.js`, 'Receiver for Node.js', RECEIVER)}
      <p>Then press <strong>Send test event</strong> on the endpoint’s page: it shows what your server answered.</p>`,
  },
  {
    id: 'rely',
    title: 'What you can rely on',
    body: html`<dl class="facts">
      <dt>More than once</dt>
      <dd>An event can arrive more than once, always with the same <code>id</code>. Ignore ids you have seen.</dd>
      <dt>In order for each object</dt>
      <dd>Events of one object arrive in the order in which they happened; those of different objects may not.</dd>
      <dt>Retries</dt>
      <dd>
        Ten attempts in 75 hours: after 5 seconds, 5 and 30 minutes, then 2, 5, 10, 14, 20 and 24 hours. Later events of
        that object wait; others do not. <code>Retry-After</code> is respected, up to an hour.
      </dd>
      <dt>When an endpoint is down</dt>
      <dd>
        Once deliveries for ten objects have failed, it is <em>failing</em>: only its oldest event is retried, until one
        succeeds. After five days without a success, or immediately on a 410, it is disabled.
      </dd>
      <dt>Nothing is lost within 30 days</dt>
      <dd>Re-enable it from where it stopped, or replay everything since a time: events are kept for 30 days.</dd>
      <dt>Types you do not know</dt>
      <dd>
        Accept and ignore them: new ones are added. <code>feed.gap</code> says that events may be missing; read what
        changed since, with <code>updated_since</code>.
      </dd>
    </dl>`,
  },
];

/** `/webhooks`: how to receive webhooks, which the settings page links to. */
export const webhookGuide: Page = {
  path: '/webhooks',
  policy: ownPolicy,
  title: 'Receiving webhooks · Scopegate',
  description: 'What is sent to a webhook endpoint, how to check its signature, and when it is sent again.',
  current: '/settings/integrations',
  body: () =>
    html`<div class="guide">
      <nav class="contents" aria-label="On this page">
        ${PARTS.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}
      </nav>
      <article>
        <p class="crumbs"><a href="/settings/integrations">Settings</a></p>
        <h1>Receiving webhooks</h1>
        <p class="lead">
          A webhook is a POST to your URL shortly after something changes. Admins add endpoints in
          <a href="/settings/webhooks">Settings → Webhooks</a>.
        </p>
        ${PARTS.map(
          ({ id, title, body }) =>
            html`<h2 id="${id}">${title}</h2>
              ${body}`,
        )}
      </article>
    </div>`,
};
