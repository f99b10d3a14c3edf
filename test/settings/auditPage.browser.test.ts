import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import type { Json } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { makeLink, signIn as signInPerson } from './people';
import { expectAccessible, inBrowser, intercept, pageScene, signIn as signInThere } from './visiting';

const DAY = 86_400_000;
const PATIENCE = 30_000;

inBrowser('the audit log on the settings page', () => {
  const scene = pageScene();
  const { visit } = scene;
  const inDays = (days: number): Date => new Date(Date.now() + days * DAY);

  test('the audit log can be filtered by action and key, keeps the filters in the URL, and shows what changed', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'Till', expiresAt: inDays(30) });
    await makeKey(scene.gateway, of, { name: 'Web shop' });
    await scene.gateway.control.apiKeys.update(id, { expiresAt: null, allowedRanges: ['10.0.0.0/8'], mcp: 'off' });
    await visit({ of, width: 390, theme: 'dark' }, async (page) => {
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
      await expectAccessible(page);
      await action.selectOption('key.revoked');
      await page.getByText('No matching events.').waitFor();
      await key.selectOption('any or none');
      expect(new URL(page.url()).search).toBe('?event=key.revoked');
    });
  });

  test('the key selected in the URL is named, even if it is not among the newest hundred', async () => {
    const of = await makeOrganisation(scene.gateway);
    const { id } = await makeKey(scene.gateway, of, { name: 'oldest' });
    const keys = scene.gateway.databases.control.collection<{ _id: string }>('api_keys');
    const one = (await keys.findOne({ _id: id }))!;
    const many = Array.from({ length: 100 }, (_, at) => ({
      ...one,
      _id: `${id}${String(at)}`,
      created_at: new Date(),
    }));
    await keys.insertMany(many);
    await visit(of, async (page) => {
      await page.goto(`${scene.gateway.url}/settings/integrations?event_key=${id}`);
      await page.locator('#event-key option:checked', { hasText: 'oldest' }).waitFor({ state: 'attached' });
      await page.locator('#events').getByText('name: oldest').waitFor();
      expect(await page.locator('#events tr').count()).toBe(1);
      expect(await page.locator('#event-key option').last().isDisabled()).toBe(true);
    });
  });

  /** Presses a button, and parses the downloaded file. */
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

  test('the audit log is saved as CSV with its current filters, and without formulas', async () => {
    const of = await makeOrganisation(scene.gateway);
    const name = 'Jürgen, "x";=1';
    await makeKey(scene.gateway, of, { name });
    // texts that a spreadsheet takes for formulas, or strips before one
    const names = ['+1', '-1', '@sum(a1)', '\t=1', '\r=1', '\n=1', '=1"', 'harmless = 1'];
    await scene.gateway.databases.control.collection<{ _id: string }>('audit_events').insertMany(
      names.map((actor, at) => ({
        ...{ _id: randomUUID(), organisation_id: of.id, action: 'webhook.deleted', key_id: null, details: {} },
        ...{ actor: { who: 'user:1', name: actor, from: 'here' }, at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)) },
      })),
    );
    await visit({ of, name: '=cmd()' }, async (page) => {
      const { name: file, rows } = await downloaded(page, () => csv(page).press('Enter'));
      expect(file).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
      const { data } = await (
        await signInPerson(scene.gateway, of, 'member', 'Max')
      ).call('audit_events', { limit: 100 });
      // without Max's sign-in
      const events = data.slice(2);
      expect(rows.map(([id]) => id)).toEqual(events.map(({ id }: Json) => id));
      expect(rows.map((row) => row[7])).toEqual(events.map(({ details }: Json) => details));
      expect(JSON.parse(rows.find(([, , action]) => action === 'key.created')![7]!)).toMatchObject({ name });
      const signedInAs = rows.find(([, , action]) => action === 'user.signed_in')!;
      expect(signedInAs.slice(3, 7)).toEqual(['user:link:=cmd()', "'=cmd()", '127.0.0.1', '']);
      await said(page)
        .getByText(`Saved ${String(rows.length)} events as ${file}.`)
        .waitFor();
      expect(rows.filter(([, , action]) => action === 'webhook.deleted').map((row) => row[4])).toEqual(
        names.toReversed().map((one) => (one === 'harmless = 1' ? one : `'${one}`)),
      );
      await page.locator('#event-action').selectOption('key.created');
      expect((await downloaded(page, () => csv(page).click())).rows).toHaveLength(1);
      await page.locator('#event-action').selectOption('key.revoked');
      await csv(page).click();
      await said(page).getByText('There are no such events.').waitFor();
    });
  });

  describe('of 250 events', () => {
    let of: Organisation;
    let expected: string[];

    beforeAll(async () => {
      of = await makeOrganisation(scene.gateway);
      const events = Array.from({ length: 250 }, (_, at) => ({
        ...{ _id: randomUUID(), at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)), action: 'key.revoked', key_id: null },
        ...{ actor: { who: 'cli:test', from: 'here' }, organisation_id: of.id, details: { at } },
      }));
      await scene.gateway.databases.control.collection<{ _id: string }>('audit_events').insertMany(events);
      expected = events.map(({ _id }) => _id).toReversed();
    });

    /** Lets `answers` decide what becomes of the call with this number, the first being 1; the function that is returned counts from 1 again. */
    async function reading(
      page: Page,
      answers: Record<number, (route: Route) => Promise<unknown>>,
    ): Promise<() => void> {
      await page.locator('#event-action').selectOption('key.revoked');
      let calls = 0;
      await intercept(page, /"limit":100/, async (route) => {
        calls += 1;
        await (answers[calls] ?? ((one) => one.fallback()))(route);
      });
      return () => (calls = 0);
    }
    const idsOf = ({ rows }: { rows: string[][] }) => rows.map(([id]) => id);

    test('a lost answer, the rate limit and an ended session lose nothing that was read', async () => {
      await visit({ of, tolerates: /ERR_FAILED|40[13]/ }, async (page) => {
        const limited = { errors: [{ message: 'Too many', extensions: { code: 'rate_limited' } }] };
        await reading(page, {
          2: (route) => route.abort(),
          3: (route) => route.fulfill({ json: limited }),
          5: async (route) => {
            await scene.gateway.control.sessions.endAll({ organisationId: of.id }, { who: 'cli:test', from: 'here' });
            await route.fallback();
          },
        });
        await csv(page).click();
        await said(page).getByText('Could not reach the gateway. 100 events were read.').waitFor();
        await expectAccessible(page);
        const goOn = page.getByRole('button', { name: 'Go on' });
        await goOn.press('Enter');
        expect(await page.evaluate('document.activeElement.id')).toBe('csv');
        await said(page).getByText('the limit of requests per minute is reached').waitFor();
        await said(page).getByText('You have been signed out.').waitFor({ timeout: PATIENCE });
        expect(await said(page).textContent()).toContain('200 events were read.');
        const other = await page.context().newPage();
        await signInThere(other, scene.gateway, await makeLink(scene.gateway, of));
        await other.close();
        expect(idsOf(await downloaded(page, () => goOn.click()))).toEqual(expected);
        await said(page).getByText('Saved 250 events').waitFor();
      });
    }, 90_000);

    test('loading can be stopped, and has a limit', async () => {
      await visit(of, async (page) => {
        let letGo = (): void => undefined;
        const held = new Promise<void>((resolve) => (letGo = resolve));
        const again = await reading(page, { 2: (route) => held.then(() => route.fallback()) });
        await csv(page).click();
        await said(page).getByText('100 events read…').waitFor();
        await page.getByRole('button', { name: 'Stop' }).click();
        await said(page).getByText('Stopped. 100 events were read.').waitFor();
        const isOfReading = (text: string | null): boolean => text?.includes('"limit":100') ?? false;
        const answered = page.waitForResponse((response) => isOfReading(response.request().postData()));
        letGo();
        await answered;
        const save = page.getByRole('button', { name: 'Save 100 events' });
        expect(idsOf(await downloaded(page, () => save.click()))).toEqual(expected.slice(0, 100));
        again();
        await csv(page).evaluate((button) => {
          button.setAttribute('data-most', '150');
        });
        expect(idsOf(await downloaded(page, () => csv(page).click()))).toEqual(expected.slice(0, 150));
        await said(page).getByText('Older ones are not in it').waitFor();
      });
    });
  });
});
