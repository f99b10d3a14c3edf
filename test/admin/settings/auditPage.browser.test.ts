import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { DAY, MINUTE } from '../../../src/units';
import { eventually } from '../../api/http/eventually';
import {
  button,
  enter,
  expectAccessible,
  type Fate,
  hasFocus,
  inBrowser,
  passed,
  press,
  says,
  settled,
  unsent,
} from '../../support/browser';
import type { Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { late } from '../../support/gateway';
import * as on from '../../support/settingsPage';
import { signIn } from './people';

inBrowser('the audit log on the settings page', () => {
  const scene = on.pageScene({ ...on.BROKEN, on: 'Audit log' });
  const { gateway, visit } = scene;
  const log = (page: Page) => on.section(page, 'Audit log');
  // without the headings of days
  const rows = (page: Page) => on.rows(page, 'Audit log').filter({ has: page.getByRole('rowheader') });
  const what = (page: Page) => log(page).getByRole('combobox', { name: 'What', exact: true });
  const key = (page: Page) => log(page).getByRole('combobox', { name: 'Key', exact: true });
  const who = (page: Page) => log(page).getByRole('combobox', { name: 'Who', exact: true });
  const add = (events: readonly object[]) =>
    gateway.databases.control
      .collection<{ _id: string }>('audit_events')
      .insertMany(events.map((event) => ({ _id: randomUUID(), key_id: null, details: {}, ...event })));

  test('the audit log can be filtered by action and key, keeps the filters in the URL, and shows what changed', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'Till', expiresAt: new Date(Date.now() + 30 * DAY) });
    await makeKey(gateway, of, { name: 'Web shop' });
    await gateway.control.apiKeys.update(id, { expires_at: null, allowed_ranges: ['10.0.0.0/8'], mcp: 'off' });
    const page = await visit({ of, width: 390, theme: 'dark' });
    const listed = (...expected: string[]) =>
      // all at once: one of them may be gone before it is asked
      eventually(async () => {
        const texts = await rows(page).getByRole('rowheader').allTextContents();
        return String(texts.map((text) => text.split(' ').slice(0, 2).join(' '))) === String(expected);
      });
    const SCOPES =
      'products read + write, quotes read + write, orders read, customers read + write, requests read + write';
    // on a narrow screen filters are folded
    await log(page).getByRole('button', { name: 'Filters' }).click();
    await what(page).selectOption('Organisation created');
    await says(rows(page), /^Created the organisation .* with the plan integrations and the currency USD$/);
    await what(page).selectOption('Key created');
    await listed('Created Web', 'Created Till');
    await key(page).selectOption(id);
    await listed('Created Till');
    const created = await rows(page).getByRole('rowheader').textContent();
    expect(created).toMatch(/^Created Till with .*, until [\d-]{10} [\d:]{8} UTC, write over MCP$/);
    expect(created).toContain(SCOPES);
    await what(page).selectOption('Everything');
    await listed('Changed TillExpiry:', 'Created Till');
    expect(on.search(page)).toBe(`?key=${id}`);
    const changes = await rows(page).first().getByRole('listitem').allInnerTexts();
    expect(changes).toEqual([
      expect.stringMatching(/^Expiry: [\d-]{10} [\d:]{8} UTC never$/),
      'Allowed addresses: anywhere 10.0.0.0/8',
      'Assistants (MCP): write off',
    ]);
    expect(await rows(page).first().locator('del').allTextContents()).toHaveLength(3);
    await expectAccessible(page);
    await what(page).selectOption('Key changed');
    await listed('Changed TillExpiry:');
    await page.reload();
    await listed('Changed TillExpiry:');
    await log(page).getByRole('button', { name: 'Filters (2)' }).click();
    expect([await what(page).inputValue(), await key(page).inputValue()]).toEqual(['key.updated', id]);
    await what(page).selectOption('Key revoked');
    await says(page, 'No events match these filters.');
    await key(page).selectOption('any');
    expect(on.search(page)).toBe('?action=key.revoked');
    await press(page, 'Clear filters');
    await says(rows(page), 'Created Web shop');
    expect(on.search(page)).toBe('');
    await hasFocus(what(page));
  });

  test('the key selected in the URL is named, even if it is not among the newest hundred', async () => {
    const of = await makeOrganisation(gateway);
    const { id } = await makeKey(gateway, of, { name: 'oldest' });
    const keys = gateway.databases.control.collection<{ _id: string }>('api_keys');
    const one = (await keys.findOne({ _id: id }))!;
    await keys.insertMany(
      Array.from({ length: 100 }, (_, at) => ({ ...one, _id: `${id}${String(at)}`, created_at: new Date() })),
    );
    const page = await visit(of);
    await scene.open(page, `/settings/audit?key=${id}`);
    await key(page).locator('option:checked', { hasText: 'oldest' }).waitFor({ state: 'attached' });
    await says(rows(page), 'oldest');
    expect(await rows(page).count()).toBe(1);
    expect(await key(page).locator('option').last().isDisabled()).toBe(true);
  });

  test('events are in sentences by day, and filtered by group, person and days; what concerns operators alone is not there', async () => {
    const of = await makeOrganisation(gateway);
    const expected = {
      'organisation.suspended': [{}, 'Suspended the organisation'],
      'organisation.restored': [
        { from: { name: 'A', plan: 'starter' }, to: { name: 'B', plan: 'starter' } },
        'Restored the organisation from an exportName: A B',
      ],
      'objects.written': [{ created: 2, deleted: 1 }, 'Wrote objects: created: 2 · deleted: 1'],
      'customer.erased': [{ customer_id: 'c1', orders: 2 }, 'Erased the personal data of customer c1: orders: 2'],
      'webhook.updated': [
        {
          url: 'https://b.example',
          from: { types: ['a', 'b'], x: ['a', 'b'] },
          to: { types: ['b', 'c'], x: ['b', 'a'] },
        },
        'Changed the endpoint https://b.exampleEvents: a c',
      ],
      'user.signed_out': [{ everywhere: 'link:Ann', sessions: 2 }, 'Signed Ann out everywhere: ended 2 sessions'],
      'later.added': [{ size: 3 }, 'later.added: size: 3'],
      'key.created': [
        { name: 'K', scopes: ['orders:read'], customer_ids: ['a', 'b'], app: { client_id: 'c', host: 'app.example' } },
        'Created K with orders read, of 2 customers, for the app at app.example',
      ],
    } as const;
    const hidden = { 'job.created': [{ kind: 'move', to: 'eu' }], 'organisation.moved': [{ from: 'us', to: 'eu' }] };
    const days = Date.UTC(2025, 10, 24, 12);
    await add(
      Object.entries({ ...expected, ...hidden }).map(([action, [details]], at) => ({
        organisation_id: of.id,
        action,
        details,
        at: new Date(days + Math.floor(at / 3) * DAY + at * MINUTE),
        actor:
          at % 2 === 0 ? { who: 'operator:billing', from: 'here' } : { who: 'user:link:Ann', name: 'Ann', from: 'x' },
      })),
    );
    const page = await visit(of);
    const texts = () => rows(page).getByRole('rowheader').allTextContents();
    const words = Object.values(expected).map(([, sentence]) => sentence);
    await scene.open(page, '/settings/audit?until=2025-11-30');
    await says(rows(page), words.at(-1)!);
    expect(await texts()).toEqual(words.toReversed());
    const headings = log(page).locator('.day');
    expect(await headings.allTextContents()).toEqual([
      'Wednesday 26 November 2025',
      'Tuesday 25 November 2025',
      'Monday 24 November 2025',
    ]);
    expect(await rows(page).last().locator('time').textContent()).toBe('12:00');
    await who(page).selectOption('Ann');
    await on.counted(rows(page), 4);
    await who(page).selectOption('Operator');
    await on.counted(rows(page), 4);
    // told from a person of that name
    expect(await rows(page).locator('.tag').allTextContents()).toEqual(Array<string>(4).fill('Operator'));
    expect(await who(page).locator('optgroup').getByText('Operator').count()).toBe(1);
    await what(page).selectOption('All about the organisation');
    await on.counted(rows(page), 2);
    await log(page).getByLabel('From', { exact: true }).fill('2025-11-25');
    await says(page, 'No events match these filters.');
    expect(on.search(page)).toBe('?until=2025-11-30&actor=operator&action=organisation&since=2025-11-25');
    await page.reload();
    await says(page, 'No events match these filters.');
    // what did not match is not shown as if it did, also while an answer is lost
    await press(page, 'Clear filters');
    await says(rows(page), 'Created the organisation');
    await on.calls(page, /audit_events/, unsent);
    await who(page).selectOption('Operator');
    await says(page, 'This page tries again');
    expect(await rows(page).count()).toBe(0);
    await page.unroute('**/settings/graphql');
    await scene.open(page, '/settings/audit');
    await says(log(page), 'Today');
  });

  /** Does something, and parses the file that is downloaded then. */
  async function downloaded(page: Page, does: () => Promise<void>): Promise<{ name: string; rows: string[][] }> {
    const [download] = await Promise.all([page.waitForEvent('download'), does()]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.startsWith('\ufeffid,at,action,actor,actor_name,from,key_id,details,times,last_at\r\n')).toBe(true);
    const parsed: string[][] = [[]];
    for (const [, quoted, plain, end] of text.slice(1).matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
      parsed.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
      if (end !== ',') parsed.push([]);
    }
    return { name: download.suggestedFilename(), rows: parsed.slice(1, -1) };
  }
  const csv = (page: Page): Promise<void> => enter(page, 'Download CSV');

  test('the audit log is saved as CSV with its current filters, and without formulas', async () => {
    const of = await makeOrganisation(gateway);
    const name = 'Jürgen, "x";=1';
    await makeKey(gateway, of, { name });
    // texts that a spreadsheet takes for formulas, or strips before one
    const names = ['+1', '-1', '@sum(a1)', '\t=1', '\r=1', '\n=1', '=1"', '＝1', 'harmless = 1'];
    await add(
      names.map((actor, at) => ({
        organisation_id: of.id,
        action: 'webhook.deleted',
        at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)),
        actor: { who: 'user:1', name: actor, from: 'here' },
      })),
    );
    const page = await visit({ of, name: '=cmd()' });
    const { name: file, rows: saved } = await downloaded(page, () => csv(page));
    expect(file).toMatch(/^audit-\d{4}-\d\d-\d\d\.csv$/);
    const max = await signIn(gateway, of, 'member', 'Max');
    // without Max's sign-in
    const events = (await max.call('audit_events', { limit: 100 })).data.slice(2);
    expect(saved.map(([id, , , , , , , details]) => [id, details])).toEqual(
      events.map(({ id, details }: Json) => [id, details]),
    );
    const withAction = (action: string) => saved.filter((row) => row[2] === action);
    expect(JSON.parse(withAction('key.created')[0]![7]!)).toMatchObject({ name });
    expect(withAction('user.signed_in')[0]!.slice(3, 7)).toEqual(['user:link:=cmd()', "'=cmd()", '127.0.0.1', '']);
    expect(withAction('webhook.deleted').map((row) => row[4])).toEqual(
      names.toReversed().map((name) => (name === 'harmless = 1' ? name : `'${name}`)),
    );
    await says(log(page), `Saved ${String(saved.length)} events as ${file}.`);
    await what(page).selectOption('Key created');
    expect((await downloaded(page, () => csv(page))).rows).toHaveLength(1);
    await what(page).selectOption('Key revoked');
    await csv(page);
    await says(log(page), 'There are no such events.');
  });

  describe('of 250 events', () => {
    const of = late(() => makeOrganisation(gateway));
    const expected: string[] = [];
    beforeAll(async () => {
      const events = Array.from({ length: 250 }, (_, at) => ({
        _id: randomUUID(),
        at: new Date(Date.UTC(2026, 0, 1, 0, 0, at)),
        action: 'key.revoked',
        actor: { who: 'cli:test', from: 'here' },
        organisation_id: of.id,
        details: { at },
      }));
      await add(events);
      expected.push(...events.map(({ _id }) => _id).toReversed());
    });
    const READING = /"limit":100/;
    const idsOf = (saved: { rows: string[][] }) => saved.rows.map(([id]) => id);

    test('a lost answer, the rate limit and an ended session lose nothing that was read', async () => {
      const limited: Fate = (route) =>
        route.fulfill({ json: { errors: [{ message: 'Too many', extensions: { code: 'rate_limited' } }] } });
      const ended: Fate = async (route) => {
        await gateway.control.sessions.endAll({ organisationId: of.id }, { who: 'cli:test', from: 'here' });
        await passed(route);
      };
      const page = await visit({ of, tolerates: /Failed to load resource/ });
      await what(page).selectOption('Key revoked');
      const fates = [passed, unsent, limited, passed, ended];
      await on.calls(page, READING, (route) => (fates.shift() ?? passed)(route));
      await csv(page);
      await says(log(page), 'Could not reach the gateway. 100 events were read.');
      await expectAccessible(page);
      // it says so for 5 s
      await Promise.all([
        says(log(page), 'the limit of requests per minute is reached'),
        enter(page, 'Go on').then(() => hasFocus(button(page, 'Stop'))),
      ]);
      await says(log(page), 'You have been signed out.');
      await says(log(page), '200 events were read.');
      await scene.signInElsewhere(page, of);
      expect(idsOf(await downloaded(page, () => press(page, 'Go on')))).toEqual(expected);
      await says(log(page), 'Saved 250 events');
    });

    test('loading can be stopped, and has a limit', async () => {
      const page = await visit(of);
      await what(page).selectOption('Key revoked');
      const next = await on.holdCalls(page, READING);
      await csv(page);
      await passed(await next());
      await says(log(page), '100 events read…');
      await press(page, 'Stop');
      await says(log(page), 'Stopped. 100 events were read.');
      const late = await next();
      await late.fulfill({ response: await late.fetch() });
      await settled(page);
      expect(idsOf(await downloaded(page, () => press(page, 'Save 100 events')))).toEqual(expected.slice(0, 100));
      await page.unroute('**/settings/graphql');
      await button(page, 'Download CSV').evaluate((element) => {
        element.setAttribute('data-most', '150');
      });
      expect(idsOf(await downloaded(page, () => csv(page)))).toEqual(expected.slice(0, 150));
      await says(log(page), 'Older ones are not in it');
    });
  });
});
