import { type JSX, render } from 'preact';
import { type Answer, callOf, settings } from '../api';
import { List } from '../list';
import { byId } from '../page';
import { Ago, Button, Cell, Head, Table } from '../parts';
import { go, type PageOf, placeOf } from '../route';
import { addEndpoint } from './edit';
import { Behind, type Endpoint, EndpointState, StateNote, Types, Url } from './words';

/* The list of webhook endpoints, oldest first. */

/** Ids of endpoints whose secret never reached this page. */
export const lost = new Set<string>();

/** `changed` is called after each endpoint that is added. */
export function webhooksPage(changed: () => void): PageOf {
  const place = placeOf('webhooks');
  const list = new List<Answer<'endpoints'>>(() => callOf('webhooks')('endpoints'), draw);
  const { mayChange, hasPlan, canMakeWebhooks } = settings;

  function add(): void {
    addEndpoint({
      endpoints: list.rows,
      async read() {
        await list.load();
        return list.failure ? undefined : list.rows;
      },
      changed,
      showLost({ id }) {
        lost.add(id);
        go(`/settings/webhooks/${id}`);
      },
    });
  }

  function draw(): void {
    const failing = list.rows.filter(({ state }) => state === 'failing').length;
    byId('failing').hidden = failing === 0;
    byId('failing').textContent = `${failing} failing`;
    render(
      <>
        <div class="heading">
          <h1 id="webhooks-title" tabIndex={-1}>
            Webhooks
          </h1>
          {mayChange && hasPlan && canMakeWebhooks && (
            <Button class="primary" does={add}>
              Add endpoint
            </Button>
          )}
        </div>
        {!canMakeWebhooks && (
          <p class="info">
            Webhooks are off: this gateway has no <code>WEBHOOK_SECRET</code>, from which the secrets of endpoints are
            derived. Ask its operator to set it, to the same value on every gateway; <code>openssl rand -hex 32</code>{' '}
            makes one.
          </p>
        )}
        <Table
          of={list}
          class="webhooks"
          name="webhooks-title"
          columns={['URL', 'Events', 'State', 'Behind', 'Last accepted']}
          none="Webhooks tell your own server what happens here: each new quote, changed order or message is posted to a URL that you choose. It is signed, so that your server can check it, and sent again for three days if it fails."
        >
          {list.rows.map((endpoint) => (
            <Row key={endpoint.id} of={endpoint} />
          ))}
        </Table>
        <p class="hint">
          <a href="/guides/webhooks">How to receive webhooks</a>
        </p>
      </>,
      place,
    );
  }

  draw();
  return { open: list.load, refresh: list.load };
}

function Row({ of: endpoint }: { of: Endpoint }): JSX.Element {
  const { id, url, types, state, last_success_at: last } = endpoint;
  return (
    <tr class={state === 'disabled' ? 'ended' : undefined}>
      <Head label="URL">
        <a href={`/settings/webhooks/${id}`}>
          <Url of={url} />
        </a>
      </Head>
      <Cell label="Events">
        <Types of={types} most={3} />
      </Cell>
      <Cell label="State">
        <EndpointState of={endpoint} />
        <span class="quiet">
          <StateNote of={endpoint} />
        </span>
      </Cell>
      <Cell label="Behind">
        <Behind of={endpoint} />
      </Cell>
      <Cell label="Last accepted">
        <Ago at={last} otherwise="never" />
      </Cell>
    </tr>
  );
}
