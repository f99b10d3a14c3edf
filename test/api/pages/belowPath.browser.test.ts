import { makeLink } from '../../admin/settings/people';
import { inBrowser, press, says, useBrowser } from '../../support/browser';
import { makeKey, makeNorthwind } from '../../support/factories';
import { late } from '../../support/gateway';
import { startBelowPath } from '../../support/pathProxy';
import { counted, goTo, leave, heading, path, rows, signIn, signOut } from '../../support/settingsPage';
import { ready, run } from './graphiqlPage';
import { enterKey } from '../../support/fixtures/pages';

/* The pages of a gateway below a path of its host (PUBLIC_URL). */

/** Paths of the gateway begin with it too. */
const BASE = '/settings';

inBrowser('below a path', () => {
  const gateway = late(() => startBelowPath({ INTROSPECTION: 'public' }, BASE));
  afterAll(() => gateway.stop());
  const organisation = late(() => makeNorthwind(gateway, 20));
  const key = late(() => makeKey(gateway, organisation, { name: 'ERP' }));
  const open = useBrowser();
  const host = (): string => new URL(gateway.url).origin;

  test('the settings are read, followed, gone back in and left', async () => {
    expect(key.key).toContain('svc_');
    const page = await open([host()]);
    await signIn(page, gateway, await makeLink(gateway, organisation));
    await goTo(page, 'API keys');
    expect(path(page)).toBe(`${BASE}/settings/keys`);
    await counted(rows(page, 'API keys'), 1);
    await page.getByRole('rowheader').getByRole('link', { name: 'ERP' }).click();
    await heading(page, 'ERP').waitFor();
    expect(path(page)).toBe(`${BASE}/settings/keys/${key.id}`);
    await page.reload();
    await heading(page, 'ERP').waitFor();
    await leave(page);
    await heading(page, 'API keys').waitFor();
    await signOut(page);
    await page.waitForURL(`**${BASE}/settings/sign-in`);
  });

  test('the reference sends requests, GraphiQL queries, and the landing page says that the gateway is up', async () => {
    const page = await open([host()]);
    await page.goto(`${gateway.url}/`);
    await says(page.getByRole('status').first(), 'Up and ready');
    await says(page.locator('#content'), `${gateway.url}/api/v1/`);
    await page.goto(`${gateway.url}/api/v1/docs`);
    await page.getByRole('link', { name: 'List orders' }).last().click();
    await press(page, 'Try it');
    await enterKey(page, key.key);
    await press(page, 'Send request');
    await says(page.getByRole('region', { name: 'Answer' }), 'HTTP 200');
    await page.goto(`${gateway.url}/graphiql`);
    await ready(page);
    await run(page);
    await says(page.getByLabel('Last answer'), /^HTTP 200 in/);
  });
});
