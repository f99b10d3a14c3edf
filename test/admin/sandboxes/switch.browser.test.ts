import {
  dialog,
  enter,
  goTo,
  heading,
  named,
  openSideBar,
  pageScene,
  press,
  saved,
  says,
  shown,
} from '../../support/settingsPage';
import { expectAccessible, inBrowser } from '../../support/browser';
import { client } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';

inBrowser('the switch to the sandbox', () => {
  const { gateway, visit } = pageScene();

  test('an admin makes a key that works on the sample, by keyboard, and goes back to live data', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'Web shop' });
    const page = await visit({ of, width: 390, theme: 'dark' });
    await named(page, 'Web shop').waitFor();
    await openSideBar(page);
    // whoever is asked whether to leave, and stays, can press it again
    await page.evaluate("addEventListener('beforeunload', (event) => event.preventDefault(), { once: true })");
    page.once('dialog', (asked) => void asked.dismiss());
    await press(page, 'Sandbox');
    await enter(page, 'Sandbox');
    await says(page, 'This is the sandbox');
    await heading(page, 'API keys').waitFor();
    await expectAccessible(page);
    await press(page, 'New key');
    await dialog(page).getByLabel('Name', { exact: true }).fill('trial');
    await dialog(page).getByRole('radio', { name: 'Read only' }).check();
    await press(page, 'Create key');
    const key = await shown(page, 'The key');
    expect(key).toMatch(/^svc_test_/);
    const { status, body } = await client(gateway, key).get('/products', { q: 'chai' });
    expect([status, body.data[0].name]).toEqual([200, 'Chai']);
    await saved(page);
    // the same page of the other data; what is only there is found
    await goTo(page, 'Requests');
    await openSideBar(page);
    await press(page, 'Live');
    await heading(page, 'Requests').waitFor();
    await openSideBar(page);
    await press(page, 'Sandbox');
    await says(page, 'This is the sandbox');
    expect(page.url()).toBe(`${gateway.url}/settings/sandbox/requests`);
    await goTo(page, 'Audit log');
    expect(page.url()).toBe(`${gateway.url}/settings/sandbox/audit`);
    await page.goto(`${gateway.url}/settings/sandbox/keys/${id}`);
    await says(page, 'There is no such API key. It may be in live data.');
    await expectAccessible(page);
    await press(page, 'Switch to live data');
    await heading(page, 'Web shop').waitFor();
    await openSideBar(page);
    await press(page, 'Sandbox');
    await heading(page, 'API keys').waitFor();
    await named(page, 'trial').waitFor();
    await openSideBar(page);
    await press(page, 'Live');
    await named(page, 'Web shop').waitFor();
    expect(await named(page, 'trial').count()).toBe(0);
    await page.goto(`${gateway.url}/settings/sandbox/keys?search=trial`);
    await heading(page, 'This page is in the sandbox').waitFor();
    await expectAccessible(page);
    await press(page, 'Switch to the sandbox');
    await named(page, 'trial').waitFor();
  });

  test('a page that is open for the other mode writes nothing, and says why', async () => {
    const of = await makeOrganisation(gateway);
    const page = await visit({ of, tolerates: /Failed to load resource/ });
    const other = await page.context().newPage();
    await other.goto(page.url());
    await press(other, 'Sandbox');
    await says(other, 'This is the sandbox');
    await press(page, 'New key');
    await dialog(page).getByLabel('Name', { exact: true }).fill('misplaced');
    await dialog(page).getByRole('radio', { name: 'Read only' }).check();
    await press(page, 'Create key');
    await says(page, 'Another tab has switched between live data and the sandbox');
    await other.reload();
    expect(await named(other, 'misplaced').count()).toBe(0);
    expect(await gateway.control.apiKeys.list(of.id)).toEqual([]);
  });
});
