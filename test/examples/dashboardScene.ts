import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import mongoose from 'mongoose';
import type { Browser, Page, Request } from 'playwright-core';
import type { Organisation } from '../../src/auth/principal';
import type { Scope } from '../../src/auth/scopes';
import type { ImportRecord } from '../../src/stored/records';
import { openBrowser, visitor } from '../support/browser';
import { makeKey, makeNorthwind, northwind, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { ROOT } from './run';

/* The example dashboard on its own origin, a gateway that records events and allows that origin, and a browser. */

/** The scopes a dashboard needs to show everything. */
export const READ_ONLY: readonly Scope[] = ['orders:read', 'quotes:read', 'customers:read'];
/** The time in pages whose clock the tests control, in milliseconds. */
const NOON = Date.UTC(2026, 10, 23, 12);

export interface Dashboard {
  readonly gateway: TestGateway;
  readonly origin: string;
  readonly organisation: Organisation;
  readonly key: string;
  readonly keyId: string;
  readonly controlDatabase: string;
  /** Opens the page, runs `work`, and checks that nothing went wrong in the browser. */
  visit(look: Look, work: (page: Page, sent: Sent) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface Look extends NonNullable<Parameters<typeof visitor>[2]> {
  /** Address of the gateway, if it is reached another way. */
  readonly through?: string;
  readonly key?: string;
  /** Host name of the page. */
  readonly host?: string;
  /** Whether the clock of the page moves only when the test moves it. */
  readonly isPaused?: boolean;
  /** Runs before the page connects. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** What the browser may log, since the test breaks things. */
  readonly tolerates?: RegExp;
}

/** What the page has sent so far. */
export interface Sent {
  /** The names of the parts of each read. */
  reads(): string[][];
  /** The requests that open a stream. */
  streams(): Request[];
  all(): Request[];
}

export async function openDashboard(environment: Record<string, string> = {}, rows = 40): Promise<Dashboard> {
  const site = createServer(express().use(express.static(join(ROOT, 'examples', 'dashboard'))));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  const CONTROL_DATABASE = `scopegate_dashboard_${randomUUID().slice(0, 8)}`;
  const gateway = await startGateway({ CORS_ORIGINS: origin, EVENTS: 'on', CONTROL_DATABASE, ...environment });
  const organisation = await makeNorthwind(gateway, rows);
  const { key, id: keyId } = await makeKey(gateway, organisation, { scopes: READ_ONLY });
  const browser: Browser = await openBrowser();

  return {
    ...{ gateway, origin, organisation, key, keyId, controlDatabase: CONTROL_DATABASE },
    async visit({ through = gateway.url, host = '127.0.0.1', isPaused = false, prepare, tolerates, ...look }, work) {
      const from = origin.replace('127.0.0.1', host);
      const { page, faults, foreign, close } = await visitor(browser, [from, through], { timezoneId: 'UTC', ...look });
      page.setDefaultTimeout(30_000);
      const requests: Request[] = [];
      page.on('request', (request) => {
        if (request.method() === 'POST') requests.push(request);
      });
      if (isPaused) await page.clock.install({ time: NOON });
      try {
        await page.goto(`${from}/#url=${encodeURIComponent(through)}`);
        if (isPaused) await page.clock.pauseAt(NOON + 60_000);
        await prepare?.(page);
        await page.getByLabel('Read-only key').fill(look.key ?? key);
        await page.getByRole('button', { name: 'Connect' }).press('Enter');
        await work(page, sentBy(requests));
      } finally {
        await close();
      }
      const unexpected = faults.filter((fault) => tolerates?.test(fault) !== true);
      expect({ unexpected, foreign }).toEqual({ unexpected: [], foreign: [] });
    },
    async close() {
      await browser.close();
      site.close();
      await gateway.stop();
      const bare = await mongoose.mongo.MongoClient.connect(process.env.TEST_MONGODB_URI!);
      await bare.db(CONTROL_DATABASE).dropDatabase();
      await bare.close();
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
