import { expectAccessible, inBrowser, turn, VIEWS } from '../../support/browser';
import { makeOrganisation, northwind, store } from '../../support/factories';
import { challengeFor, registered, requestQuery, verifier } from '../../support/oauthApp';
import { createOAuthClient } from '../../support/oauthClient';
import { BROKEN, dialog, fact, follow, goTo, heading, named, pageScene, press, says } from '../../support/settingsPage';
import { makeLink } from './people';

inBrowser('the consent of an admin', () => {
  const { gateway, visit, visitAsStranger } = pageScene();

  test('connects the client of the protocol, from an address alone until it is revoked', async () => {
    const of = await makeOrganisation(gateway, { name: 'Acme' });
    await store(gateway, of, { customers: northwind('customers').slice(0, 3) });
    await using client = await createOAuthClient(gateway.url);
    await expect(client.use('customers')).rejects.toThrow('Unauthorized');

    // not signed in: signs in and comes back
    const page = await visitAsStranger({}, [client.origin]);
    await page.goto(client.opened()!);
    await heading(page, 'Sign in').waitFor();
    await page.goto(`${gateway.url}/settings/sign-in?link=${await makeLink(gateway, of)}`);
    await press(page, 'Continue');
    await page.getByRole('heading', { name: /^Connect Desk assistant \(127\.0\.0\.1:\d+\)\?$/ }).waitFor();
    await says(page, 'allow it only if');
    for (const view of VIEWS) {
      await turn(page, view);
      await expectAccessible(page);
    }
    await page.getByRole('checkbox', { name: 'orders:read' }).uncheck();
    await page.getByText('Allow more than it asks for').click();
    await page.getByRole('checkbox', { name: 'products:write' }).check();
    await press(page, 'Allow');
    await heading(page, 'Connected').waitFor();
    const answer = await client.answer;
    expect(Object.fromEntries(answer)).toMatchObject({ state: 'its state', iss: gateway.url });
    const forged = new URLSearchParams(answer);
    forged.set('iss', 'https://attacker.example');
    await expect(client.finish(forged)).rejects.toThrow(/iss/i);
    await client.finish(answer);
    expect(client.tokens()?.scope).toMatch(/^(?!.*orders:read).*customers:read.*products:write/);
    expect(JSON.stringify(await client.use('customers'))).toContain('Alfreds');

    // its access token ends: it gets another by itself
    const keys = gateway.databases.control.collection('api_keys');
    const past = { $set: { 'app.tokens.access_ends_at': new Date(Date.now() - 1000) } };
    await keys.updateOne({ 'organisation.id': of.id }, past);
    const before = client.tokens()?.access_token;
    expect(JSON.stringify(await client.use('customers'))).toContain('Alfreds');
    expect(client.tokens()?.access_token).not.toBe(before);

    await page.goto(`${gateway.url}/settings/integrations`);
    await goTo(page, 'API keys');
    await named(page, 'Desk assistant').waitFor();
    await says(page, `app at ${new URL(client.origin).host}`);
    await follow(page, 'Desk assistant');
    expect(await fact(page, 'Connected app').innerText()).toBe(`at ${new URL(client.origin).host}`);
    expect(await page.getByRole('button', { name: 'Rotate' }).count()).toBe(0);
    await press(page, 'Revoke');
    await says(dialog(page), 'until an admin connects it again');
    await Promise.all([says(page, 'Revoked key Desk assistant.'), press(dialog(page), 'Revoke key')]);
    await expect(client.use('customers')).rejects.toThrow('Unauthorized');
  });

  test('leads to an app at [::1], which a policy cannot name', async () => {
    // nothing needs to listen there
    const address = 'http://[::1]:59999/callback';
    const page = await visit({ ...BROKEN, of: await makeOrganisation(gateway) });
    const query = requestQuery(await registered(gateway, [address]), challengeFor(verifier()), {
      redirect_uri: address,
    });
    await page.goto(`${gateway.url}/settings/authorize${query}`);
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().startsWith(address)),
      press(page, 'Allow'),
    ]);
    expect(new URL(request.url()).searchParams.get('code')).not.toBeNull();
  });
});
