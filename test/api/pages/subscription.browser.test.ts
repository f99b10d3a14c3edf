import { eventually } from '../http/eventually';
import { inBrowser, says, useBrowser } from '../../support/browser';
import { eventRow, eventScene } from '../../support/fixtures/events';
import { driver, metric, served } from '../../support/gateway';
import { query, ready, response, run, write, writeKey } from './graphiqlPage';

inBrowser('in a browser', () => {
  const gateway = served({ INTROSPECTION: 'public' });
  const bare = driver();
  const visit = useBrowser();

  test('GraphiQL shows the events of a subscription as they happen, until it is stopped', async () => {
    const { key, rows } = await eventScene(gateway, bare);
    const page = await visit([gateway.url]);
    const open = (count: number) =>
      eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === count);
    await page.goto(`${gateway.url}/graphiql`);
    await ready(page);
    await write(query(page), 'subscription { events { type status object { id } } }');
    await writeKey(page, key);
    await run(page);
    await open(1);
    await says(page.getByLabel('Last answer'), 'Listening…');
    for (const n of [1, 2]) {
      const row = eventRow(n, 'quote.created');
      await rows.insertOne(row);
      await says(response(page), row.object!.id);
    }
    await says(page.getByLabel('Last answer'), /^HTTP 200 in/);
    await run(page);
    await open(0);
  }, 120_000);
});
