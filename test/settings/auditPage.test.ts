import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Browser, Page, Route } from 'playwright-core';
import type { Organisation } from '../../src/access/principal';
import { CHROMIUM, INSTALL_CHROMIUM, openBrowser } from '../support/browser';
import type { Json } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { describeWith } from '../support/programs';
import { eventually } from '../http/eventually';
import { signIn as signInPerson } from './people';
import { expectAccessible, intercept, signedIn, type Visitor } from './visiting';

const DAY = 86_400_000;
const PATIENCE = 30_000;

describeWith(CHROMIUM, INSTALL_CHROMIUM)('the audit log on the settings page', () => {
  let gateway: TestGateway;
  let browser: Browser;

  beforeAll(async () => {
    gateway = await startGateway();
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  const visit = (of: Organisation, work: (page: Page) => Promise<void>, view: Partial<Visitor> = {}): Promise<void> =>
    signedIn({ browser, gateway }, { of, ...view }, work);
  const inDays = (days: number): Date => new Date(Date.now() + days * DAY);

  /** For who looks at the pages. */
  const shot = async (page: Page, name: string): Promise<void> => {
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
  };

  test('the audit log can be filtered by action and key, which the address keeps, and says what was changed', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'Till', expiresAt: inDays(30) });
    await makeKey(gateway, of, { name: 'Web shop' });
    await gateway.control.apiKeys.update(id, { expiresAt: null, allowedRanges: ['10.0.0.0/8'], mcp: 'off' });
    await visit(
      of,
      async (page) => {
        const rows = page.locator('#events tr');
        const [action, key] = [page.locator('#event-action'), page.locator('#event-key')];
        const whats = (): Promise<string[]> => rows.locator('td:nth-child(2)').allTextContents();
        const until = (expected: readonly string[]) =>
          eventually(async () => JSON.stringify(await whats()) === JSON.stringify(expected), PATIENCE);
        await action.selectOption('Key created');
        await until(['Key created', 'Key created']);
        await key.selectOption(id);
        await until(['Key created']);
        await action.selectOption('everything');
        await until(['Key changed', 'Key created']);
        expect(new URL(page.url()).search).toBe(`?event_key=${id}`);
        const changed = (await rows.first().textContent())!;
        expect(changed).toMatch(/name: Till · .*expires at: [\d-]{10} [\d:]{8} UTC → never/);
        expect(changed).toContain('allowed ranges: anywhere → 10.0.0.0/8 · mcp: write → off');
        await action.selectOption('key.updated');
        await until(['Key changed']);
        await page.reload();
        await until(['Key changed']);
        expect([await action.inputValue(), await key.inputValue()]).toEqual(['key.updated', id]);
        await shot(page, 'audit');
        await expectAccessible(page);
        await action.selectOption('key.revoked');
        await page.getByText('No matching events.').waitFor();
        await key.selectOption('any or none');
        expect(new URL(page.url()).search).toBe('?event=key.revoked');
      },
      { width: 390, theme: 'dark' },
    );
  });

  test('a key that is chosen in the address is named, also if it is not among the newest hundred', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'oldest' });
    const keys = gateway.databases.control.collection<{ _id: string }>('api_keys');
    const one = (await keys.findOne({ _id: id }))!;
    const many = Array.from({ length: 100 }, (_, at) => ({
      ...one,
      _id: `${id}${String(at)}`,
      created_at: new Date(),
    }));
    await keys.insertMany(many);
    await visit(of, async (page) => {
      await page.goto(`${gateway.url}/settings/integrations?event_key=${id}`);
      await page.locator('#event-key option:checked', { hasText: 'oldest' }).waitFor({ state: 'attached' });
      await page.locator('#events').getByText('name: oldest').waitFor();
      expect(await page.locator('#events tr').count()).toBe(1);
      expect(await page.locator('#event-key option').last().isDisabled()).toBe(true);
    });
  });

  /** Presses a button, and parses what is downloaded. */
  async function downloaded(page: Page, press: () => Promise<void>): Promise<{ name: string; rows: string[][] }> {
    const [download] = await Promise.all([page.waitForEvent('download'), press()]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.startsWith('\ufeffid,at,action,actor,actor_name,from,key_id,details\r\n')).toBe(true);
    const cells = [...text.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)];
    const rows: string[][] = [[]];
    for (const [, quoted, plain, end] of cells) {
      rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
      if (end !== ',') rows.push([]);
    }
    return { name: download.suggestedFilename(), rows: rows.slice(1, -1) };
  }

  const said = (page: Page) => page.locator('#csv-text');
  const csv = (page: Page) => page.getByRole('button', { name: 'Download CSV' });

  test('the audit log is saved as CSV, without formulas, and as it is filtered', async () => {
    const of = await makeOrganisation(gateway);
    const name = 'Jürgen, "x";=1';
    await makeKey(gateway, of, { name });
    await visit(
      of,
      async (page) => {
        const { name: file, rows } = await downloaded(page, () => csv(page).press('Enter'));
        expect(file).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
        const { data } = await (await signInPerson(gateway, of, 'member', 'Max')).call('audit_events', { limit: 100 });
        // without those of signing in Max
        const events = data.slice(2);
        expect(rows.map(([id]) => id)).toEqual(events.map(({ id }: Json) => id));
        expect(rows.map((row) => row[7])).toEqual(events.map(({ details }: Json) => details));
        expect(JSON.parse(rows.find(([, , action]) => action === 'key.created')![7]!)).toMatchObject({ name });
        const signedInAs = rows.find(([, , action]) => action === 'user.signed_in')!;
        expect(signedInAs.slice(3, 7)).toEqual(['user:link:=cmd()', "'=cmd()", '127.0.0.1', '']);
        await said(page)
          .getByText(`Saved ${String(rows.length)} events as ${file}.`)
          .waitFor();
        await page.locator('#event-action').selectOption('key.created');
        expect((await downloaded(page, () => csv(page).click())).rows).toHaveLength(1);
        await page.locator('#event-action').selectOption('key.revoked');
        await csv(page).click();
        await said(page).getByText('There are no such events.').waitFor();
      },
      { name: '=cmd()' },
    );
  });

  test('a lost answer, Stop and the limit lose nothing that was read', async () => {
    const of = await makeOrganisation(gateway);
    const events = Array.from({ length: 250 }, (_, at) => ({
      ...{ _id: randomUUID(), at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)), action: 'key.revoked', key_id: null },
      ...{ actor: { who: 'cli:test', from: 'here' }, organisation_id: of.id, details: { at } },
    }));
    await gateway.databases.control.collection<{ _id: string }>('audit_events').insertMany(events);
    const expected = events.map(({ _id }) => _id).toReversed();
    await visit(
      of,
      async (page) => {
        await page.locator('#event-action').selectOption('key.revoked');
        let calls = 0;
        let answers: (route: Route) => Promise<void> = (route) => route.fallback();
        await intercept(page, /"limit":100/, (route) => {
          calls += 1;
          return answers(route);
        });
        answers = (route) => (calls === 2 ? route.abort() : route.fallback());
        await csv(page).click();
        await said(page).getByText('Could not reach the gateway. 100 events were read.').waitFor();
        await shot(page, 'csv');
        await expectAccessible(page);
        const all = await downloaded(page, () => page.getByRole('button', { name: 'Go on' }).press('Enter'));
        expect(all.rows.map(([id]) => id)).toEqual(expected);
        await said(page).getByText('Saved 250 events').waitFor();

        // the answer comes after Stop
        calls = 0;
        let letGo = (): void => undefined;
        const held = new Promise<void>((resolve) => (letGo = resolve));
        answers = async (route) => {
          if (calls === 2) await held;
          await route.fallback();
        };
        await csv(page).click();
        await said(page).getByText('100 events read…').waitFor();
        await page.getByRole('button', { name: 'Stop' }).click();
        await said(page).getByText('Stopped. 100 events were read.').waitFor();
        const answered = page.waitForResponse(
          (response) => response.request().postData()?.includes('"limit":100') ?? false,
        );
        letGo();
        await answered;
        const some = await downloaded(page, () => page.getByRole('button', { name: 'Save 100 events' }).click());
        expect(some.rows.map(([id]) => id)).toEqual(expected.slice(0, 100));

        await csv(page).evaluate((button) => button.setAttribute('data-most', '150'));
        const most = await downloaded(page, () => csv(page).click());
        expect(most.rows.map(([id]) => id)).toEqual(expected.slice(0, 150));
        await said(page).getByText('Older ones are not in it').waitFor();
      },
      { tolerates: /ERR_FAILED/ },
    );
  });
});
