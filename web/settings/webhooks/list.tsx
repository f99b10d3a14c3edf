import { type JSX, render } from 'preact';
import { RETRIED_HOURS } from '../../../src/units';
import { type Answer, call, callOf, settings } from '../api';
import { customersInWords } from '../keyNames';
import { List } from '../list';
import { byId } from '../page';
import { Ago, Button, Heading } from '../parts';
import { go, isShown, type PageOf, placeOf } from '../route';
import { Cell, Head, Table } from '../table';
import { addEndpoint } from './edit';
import { type Statistics, SuccessRate } from './statistics';
import { type Endpoint, EndpointState, OldestUndelivered, StateNote, Types, Url } from './words';

/* The list of webhook endpoints, oldest first. */

/** Ids of endpoints whose secret never reached this page. */
export const lost = new Set<string>();

interface WebhooksPage extends PageOf {
  /** Reads the endpoints for the overview. @throws Failure */
  readonly read: () => Promise<readonly Endpoint[]>;
}

/** `changed` is called after each endpoint that is added. */
export function webhooksPage(changed: () => void): WebhooksPage {
  const place = placeOf('webhooks');
  const readPage = (): Promise<Answer<'endpoints'>> => callOf('webhooks')('endpoints');
  const list = new List(readPage, draw);
  const { mayChange, hasPlan, canMakeWebhooks, mostEndpoints } = settings;

  let statistics: ReadonlyMap<string, Statistics> = new Map();
  /** Without them, or if they cannot be read, the list is as good as before. */
  async function readStatistics(): Promise<void> {
    if (!isShown('webhooks')) return;
    const { data } = await call('deliveryStatistics', { period: 'last_24h' }).catch(() => ({ data: [] }));
    statistics = new Map(data.map((one) => [one.webhook_id, one]));
    draw();
  }

  /** Unlike `list.load`, it tells its caller what failed; and the badge beside the link is drawn from what was read. @throws Failure */
  async function read(): Promise<readonly Endpoint[]> {
    const page = await readPage();
    list.show([page]);
    return page.data;
  }

  function add(): void {
    addEndpoint({
      endpoints: list.rows,
      read,
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
        <Heading id="webhooks-title" title="Webhooks">
          <a class="button" href="/guides/webhooks">
            How to receive webhooks
          </a>
          {/* an endpoint that was added although the answer was lost is told by not being among those that were read */}
          {mayChange && hasPlan && canMakeWebhooks && list.value && (
            <Button class="primary" does={add}>
              Add endpoint
            </Button>
          )}
        </Heading>
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
          columns={['URL', 'Events', 'State', 'Success, 24 hours', 'Oldest undelivered', 'Last accepted']}
          none={`Webhooks tell your own server what happens here: the events that you choose are posted to a URL of yours, signed so that your server can check them, and sent again for ${RETRIED_HOURS} hours if that fails.`}
        >
          {list.rows.map((endpoint) => (
            <Row key={endpoint.id} of={endpoint} statistics={statistics.get(endpoint.id)} />
          ))}
        </Table>
        {list.rows.length > 0 && (
          <p class="quiet">
            {list.rows.length} of {mostEndpoints} endpoints that the plan includes
          </p>
        )}
      </>,
      place,
    );
  }

  draw();
  const refresh = async (): Promise<boolean> => (await Promise.all([list.load(), readStatistics()]))[0];
  return { open: refresh, refresh, read };
}

function Row({ of: endpoint, statistics }: { of: Endpoint; statistics: Statistics | undefined }): JSX.Element {
  const { id, url, types, customer_ids: customers, state, last_success_at: last } = endpoint;
  return (
    <tr class={state === 'disabled' ? 'ended' : undefined}>
      <Head label="URL">
        <a href={`/settings/webhooks/${id}`}>
          <Url of={url} />
        </a>
      </Head>
      <Cell label="Events">
        <Types of={types} most={3} />
        {customers && <span class="quiet"> of {customersInWords(customers)}</span>}
      </Cell>
      <Cell label="State">
        <EndpointState of={endpoint} />
        <span class="quiet">
          <StateNote of={endpoint} />
        </span>
      </Cell>
      <Cell label="Success, 24 hours">
        <SuccessRate of={statistics} />
      </Cell>
      <Cell label="Oldest undelivered">
        <OldestUndelivered of={endpoint} />
      </Cell>
      <Cell label="Last accepted">
        <Ago at={last} otherwise="never" />
      </Cell>
    </tr>
  );
}
