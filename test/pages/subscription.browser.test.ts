import mongoose from 'mongoose';
import { eventually } from '../http/eventually';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser, visitor } from '../support/browser';
import { eventRow, eventScene } from '../support/eventScene';
import { metric, startGateway } from '../support/gateway';
import { describeWith } from '../support/programs';

describeWith(CHROMIUM, INSTALL_CHROMIUM)('in a browser', () => {
  test('GraphiQL shows the events of a subscription as they happen, until it is stopped', async () => {
    const gateway = await startGateway({ INTROSPECTION: 'public' });
    const bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!);
    const { key, rows } = await eventScene(gateway, bare);
    const browser = await openBrowser();
    const { page, faults, close } = await visitor(browser, [gateway.url]);
    const write = async (editor: string, text: string): Promise<void> => {
      await page.locator(`${editor} .CodeMirror`).evaluate((element: unknown, value) => {
        (element as { CodeMirror: { setValue(value: string): void } }).CodeMirror.setValue(value);
      }, text);
    };
    const open = (count: number): Promise<unknown> =>
      eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === count, 20_000);
    await page.goto(`${gateway.url}/graphiql`);
    await page.waitForSelector('.graphiql-query-editor textarea[aria-label]', { state: 'attached' });
    await write('.graphiql-query-editor', 'subscription { events { type status object { id } } }');
    const headers = JSON.stringify({ Authorization: `Bearer ${key}` });
    await write('.graphiql-editor-tool .graphiql-editor:nth-child(2)', headers);
    await page.locator('.graphiql-execute-button').click();
    await open(1);
    const shown = page.locator('.graphiql-response');
    const status = page.getByLabel('Last answer');
    await status.getByText('Listening…').waitFor();
    for (const n of [1, 2]) {
      const row = eventRow(n, 'quote.created');
      await rows.insertOne(row);
      await shown.getByText(row.object!.id).first().waitFor();
    }
    await status.getByText(/^HTTP 200 in/).waitFor();
    await page.locator('.graphiql-execute-button').click();
    await open(0);
    expect(faults).toEqual([]);
    await close();
    await browser.close();
    await bare.close();
    await gateway.stop();
  }, 120_000);
});
