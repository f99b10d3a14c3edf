import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import type { Locator, Page, Request } from 'playwright-core';
import type { Scope } from '../../../src/auth/scopes';
import type { ImportRecord } from '../../../src/stored/records';
import { button, type Look, useBrowser } from '../../support/browser';
import { makeKey, makeNorthwind, northwind, store } from '../../support/factories';
import { driver, late, servedBy, startGateway } from '../../support/gateway';
import { ROOT } from './run';

/* The example dashboard on its own origin, a gateway that records events and allows that origin, and a browser. */

/** The scopes a dashboard needs to show everything. */
const READ_ONLY: readonly Scope[] = ['orders:read', 'quotes:read', 'customers:read'];
/** The time in pages whose clock the tests control, in milliseconds. */
const NOON = Date.UTC(2026, 10, 23, 12);

export type Dashboard = ReturnType<typeof useDashboard>;

interface Visit extends Look {
  /** Address of the gateway, if it is reached another way. */
  readonly through?: string;
  readonly key?: string;
  /** Host name of the page. */
  readonly host?: string;
  /** Whether the clock of the page moves only when the test moves it. */
  readonly isPaused?: boolean;
  /** Runs before the page connects. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** What the page has sent so far. */
interface Sent {
  /** The names of the parts of each read. */
  reads(): string[][];
  /** The requests that open a stream. */
  streams(): Request[];
  all(): Request[];
}

/** The dashboard for the tests of a file or describe. */
export function useDashboard(environment: Record<string, string> = {}, rows = 40) {
  const CONTROL_DATABASE = `scopegate_dashboard_${randomUUID().slice(0, 8)}`;
  const site = late(async () => {
    const server = createServer(express().use(express.static(join(ROOT, 'examples', 'dashboard'))));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { server, origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
  });
  const start = () => startGateway({ CORS_ORIGINS: site.origin, EVENTS: 'on', CONTROL_DATABASE, ...environment });
  const gateway = servedBy(start);
  const organisation = late(() => makeNorthwind(gateway, rows));
  const made = late(() => makeKey(gateway, organisation, { scopes: READ_ONLY }));
  const open = useBrowser();
  afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
  const bare = driver();
  afterAll(() => site.server.close());

  return {
    gateway,
    organisation,
    site,
    made,
    controlDatabase: CONTROL_DATABASE,
    /** The page, connected, and what it has sent so far. */
    async visit(how: Visit = {}): Promise<{ page: Page; sent: Sent }> {
      const { through = gateway.url, host = '127.0.0.1', isPaused = false, prepare, key = made.key, ...look } = how;
      const from = site.origin.replace('127.0.0.1', host);
      const page = await open([from, through], { timezoneId: 'UTC', ...look });
      const requests: Request[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') requests.push(request);
      });
      if (isPaused) await page.clock.install({ time: NOON });
      await page.goto(`${from}/#url=${encodeURIComponent(through)}`);
      if (isPaused) await page.clock.pauseAt(NOON + 60_000);
      await prepare?.(page);
      await page.getByLabel('Read-only key').fill(key);
      await button(page, 'Connect').press('Enter');
      return { page, sent: sentBy(requests) };
    },
  };
}

function sentBy(requests: readonly Request[]): Sent {
  const queries = (): string[] => requests.map((request) => (request.postDataJSON() as { query: string }).query);
  return {
    all: () => [...requests],
    streams: () => requests.filter((_request, n) => queries()[n]!.startsWith('subscription')),
    reads: () =>
      queries()
        .filter((query) => query.startsWith('query Dashboard'))
        .map((query) => [...query.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name!)),
  };
}

let made = 0;

/** A new order. */
export function makeOrder(members: Partial<Record<string, unknown>> & { total_minor: number }): ImportRecord {
  made += 1;
  const { total_minor: total } = members;
  const amounts = { subtotal_minor: total, discount_minor: 0, vat_minor: 0, shipping_minor: 0 };
  const template = northwind('orders')[0]!;
  return { ...template, ...amounts, id: randomUUID(), number: `DASH-${String(made)}`, lines: [], ...members };
}

/** Stores orders as the application that owns them would. */
export async function storeOrders(
  { gateway, organisation }: Pick<Dashboard, 'gateway' | 'organisation'>,
  orders: readonly ImportRecord[],
): Promise<void> {
  await store(gateway, organisation, { orders });
}

/** Waits until the page receives changes and shows what it has read. */
export async function isLive(page: Page): Promise<void> {
  await page.locator('#live[data-state=live]').waitFor();
  await page.locator('#updated:not(:empty)').waitFor();
}

/** The text of each figure of a part. */
export const captions = (page: Page, part: string): Promise<string[]> =>
  page.locator(`[data-part=${part}] :is(figcaption, figure > table caption)`).allInnerTexts();

/** What a part shows of a currency. */
export const figure = (page: Page, part: string, currency: string): Locator =>
  page.locator(`[data-part=${part}] [data-currency=${currency}]`);
