import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectAccessible, inBrowser, press, says, turn, useBrowser, VIEWS } from '../../support/browser';
import { makeKey, makeOrganisation } from '../../support/factories';
import { late } from '../../support/gateway';
import { startBehindTls } from '../../support/pathProxy';
import { makeLink } from './people';

/* The settings of a gateway under another name, in a frame of another site. */

const NAME = 'Acme & <Söhne>';
const COLOUR = '#7c3aed';
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="#7c3aed"/></svg>';

/** A page of a product, with the settings in a frame. */
async function startProduct() {
  const state = { frame: '' };
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(
        `<!doctype html><html lang="en"><title>Product</title><iframe title="API" src="${state.frame}" width="1450" height="700"></iframe></html>`,
      );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  // another site than 127.0.0.1
  return {
    state,
    listed: `http://localhost:${port}`,
    unlisted: `http://127.0.0.1:${port}`,
    stop: () => server.close(),
  };
}

/** Runs in the page. */
const groundOf = (element: unknown): string =>
  (globalThis as unknown as { getComputedStyle: (of: unknown) => { backgroundColor: string } }).getComputedStyle(
    element,
  ).backgroundColor;

inBrowser('under another name', () => {
  const product = late(startProduct);
  const gateway = late(() => {
    const logo = join(mkdtempSync(join(tmpdir(), 'scopegate-logo-')), 'logo.svg');
    writeFileSync(logo, LOGO);
    return startBehindTls({
      BRAND_NAME: NAME,
      BRAND_DESCRIPTION: 'What Acme knows of you',
      BRAND_LOGO: logo,
      BRAND_COLOUR: COLOUR,
      BRAND_HOME: 'https://acme.example/',
      FRAME_ANCESTORS: product.listed,
    });
  });
  afterAll(async () => {
    await gateway.stop();
    product.stop();
  });
  const organisation = late(() => makeOrganisation(gateway));
  const key = late(() => makeKey(gateway, organisation, { name: 'ERP' }));
  const open = useBrowser();
  const origins = (): string[] => [new URL(gateway.url).origin, product.listed, product.unlisted];
  const linkTo = async (returnTo?: string): Promise<string> =>
    `${gateway.url}/settings/sign-in?link=${await makeLink(gateway, organisation, 'admin', 'Ann', returnTo)}`;

  test('a person signs in and uses the settings in a frame of a listed origin, with the name, logo and colour', async () => {
    expect(key.key).toContain('svc_');
    const returnTo = `${product.listed}/accounts/42?tab=api`;
    product.state.frame = await linkTo(returnTo);
    const page = await open(origins(), { ignoreHTTPSErrors: true, tolerates: /Blocked autofocusing/ });
    await page.setViewportSize({ width: 1500, height: 800 });
    await page.goto(product.listed);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Continue' }).click();
    await frame.getByRole('heading', { name: 'Overview' }).waitFor();
    await frame.getByRole('link', { name: 'API keys' }).first().click();
    await frame.getByRole('rowheader').getByRole('link', { name: 'ERP' }).waitFor();
    const brand = frame.getByRole('link', { name: NAME, exact: true });
    expect(await brand.getAttribute('href')).toBe('https://acme.example/');
    const logo = brand.locator('img.logo');
    expect(await logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)).toBeGreaterThan(
      0,
    );
    const primary = frame.locator('.button.primary').first();
    expect(await primary.evaluate(groundOf)).toBe('rgb(124, 58, 237)');
    product.state.frame = 'about:blank';
    await frame.getByRole('link', { name: `Back to ${NAME}` }).click();
    await page.waitForURL(returnTo);
    // the session belongs to the product's site: the same page by itself has none
    await page.goto(`${gateway.url}/settings/keys`);
    await page.waitForURL('**/settings/sign-in');
  });

  test('a session that ends in a frame is not said to go on after signing in in another tab', async () => {
    product.state.frame = await linkTo();
    const tolerates = /Blocked autofocusing|Failed to load resource/;
    const page = await open(origins(), { ignoreHTTPSErrors: true, tolerates });
    await page.goto(product.listed);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Continue' }).click();
    await frame.getByRole('link', { name: 'API keys' }).first().click();
    await frame.getByRole('button', { name: 'New key' }).click();
    const dialog = frame.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('web shop');
    await dialog.getByRole('radio', { name: 'Read only' }).check();
    await gateway.control.sessions.endAll({ organisationId: organisation.id }, { who: 'cli:test', from: 'here' });
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await says(dialog, 'You have been signed out. Copy what you still need from here, then reload the whole page.');
  });

  test('pages have the name in their titles and documents, and are accessible in its colours', async () => {
    const page = await open(origins(), { ignoreHTTPSErrors: true });
    await page.goto(await linkTo(product.listed));
    await press(page, 'Continue');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const view of VIEWS) {
      await turn(page, view);
      await expectAccessible(page);
    }
    await page.goto(`${gateway.url}/`);
    expect(await page.title()).toBe(NAME);
    expect(await page.locator('.lead').textContent()).toBe('What Acme knows of you.');
    const sample = await page.locator('pre', { hasText: 'curl' }).textContent();
    expect(sample).toContain('/api/v1/me"');
    const first = /curl "([^"]+)"/.exec(sample ?? '')?.[1] ?? '';
    const answer = await page.request.get(first, { headers: { authorization: `Bearer ${key.key}` } });
    expect(await answer.json()).toMatchObject({ key: { name: 'ERP' } });
    await expectAccessible(page);
    await page.goto(`${gateway.url}/errors/not_found`);
    expect(await page.title()).toContain(` · ${NAME}`);
    const { info } = (await (await page.request.get(`${gateway.url}/api/v1/openapi.json`)).json()) as {
      info: { title: string };
    };
    expect(info.title).toBe(NAME);
    const resource = await page.request.get(`${gateway.url}/.well-known/oauth-protected-resource/mcp`);
    expect(await resource.json()).toMatchObject({ resource_name: NAME });
  });

  test('another origin gets no frame', async () => {
    product.state.frame = await linkTo();
    const page = await open(origins(), {
      ignoreHTTPSErrors: true,
      tolerates: /frame-ancestors|Refused to frame|Framing/,
    });
    await page.goto(product.unlisted);
    await page.waitForLoadState('networkidle');
    expect(await page.frameLocator('iframe').getByRole('button', { name: 'Continue' }).count()).toBe(0);
    // other pages are framed by nobody
    const { headers } = await page.request.get(`${gateway.url}/`).then((answer) => ({ headers: answer.headers() }));
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY' });
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });
});
