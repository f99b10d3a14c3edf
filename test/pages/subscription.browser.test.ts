import mongoose from 'mongoose';
import { eventually } from '../http/eventually';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser, visitor } from '../support/browser';
import { eventRow, eventScene } from '../support/eventScene';
import { metric, startGateway } from '../support/gateway';
import { describeWith } from '../support/programs';
import { query, ready, response, run, write, writeKey } from './graphiqlPage';

describeWith(CHROMIUM, INSTALL_CHROMIUM)('in a browser', () => {
  test('GraphiQL shows the events of a subscription as they happen, until it is stopped', async () => {
    const gateway = await startGateway({ INTROSPECTION: 'public' });
    const bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!);
    const { key, rows } = await eventScene(gateway, bare);
    const browser = await openBrowser();
    const { page, faults, close } = await visitor(browser, [gateway.url]);
    const open = (count: number): Promise<unknown> =>
      eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === count, 20_000);
    await page.goto(`${gateway.url}/graphiql`);
    await ready(page);
    await write(query(page), 'subscription { events { type status object { id } } }');
    await writeKey(page, key);
    await run(page);
    await open(1);
    const status = page.getByLabel('Last answer');
    await status.getByText('Listening…').waitFor();
    for (const n of [1, 2]) {
      const row = eventRow(n, 'quote.created');
      await rows.insertOne(row);
      await response(page).getByText(row.object!.id).first().waitFor();
    }
    await status.getByText(/^HTTP 200 in/).waitFor();
    await run(page);
    await open(0);
    expect(faults).toEqual([]);
    await close();
    await browser.close();
    await bare.close();
    await gateway.stop();
  }, 120_000);
});
