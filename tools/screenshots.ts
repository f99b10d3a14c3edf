import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import type { Page } from 'playwright-core';
import { openBrowser, THEMES, visitor, WIDTHS } from '../test/support/browser';
import { findProgram } from '../test/support/programs';
import { ROOT } from './facts';

/*
 * npm run screenshots: starts its own demo and writes docs/images/NAME-{1280,390}-{light,dark}.png for every page, except
 * those in settingsScreenshots.ts, which runs first. Then compresses all of them to a third of the size if pngquant is on
 * PATH (apt-get install pngquant).
 */

const IMAGES = join(ROOT, 'docs', 'images');

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Brings the page into the state to capture. */
  readonly prepare: (page: Page) => Promise<unknown>;
}

const SHOTS: readonly Shot[] = [
  { name: 'landing', path: '/', prepare: (page) => page.waitForSelector('#status[data-state=ready]') },
  {
    name: 'reference',
    path: '/api/v1/docs/products/list',
    prepare: (page) => page.getByRole('button', { name: 'Try it', disabled: false }).waitFor(),
  },
  {
    name: 'graphiql',
    path: '/graphiql',
    prepare: async (page) => {
      await page.waitForSelector('.graphiql-query-editor textarea[aria-label]');
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.graphiql-response').getByText('total_minor').first().waitFor();
    },
  },
  { name: 'errors', path: '/errors', prepare: (page) => page.waitForSelector('.errors') },
  { name: 'error', path: '/errors/rate_limited', prepare: (page) => page.waitForSelector('pre') },
];

interface Demo {
  readonly url: string;
  readonly key: string;
  stop(): Promise<void>;
}

async function startDemo(origin: string): Promise<Demo> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-screenshots-'));
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'main.js'), 'demo', '--json'], {
    env: { ...process.env, DATA_DIR: folder, PORT: '0', CORS_ORIGINS: origin },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let text = '';
  for await (const piece of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    text += piece;
    if (text.includes('\n')) break;
  }
  return {
    ...(JSON.parse(text) as { url: string; key: string }),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function main(): Promise<void> {
  const site = createServer(express().use(express.static(join(ROOT, 'examples', 'dashboard'))));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
  const demo = await startDemo(origin);
  const browser = await openBrowser();
  const dashboard: Shot = {
    name: 'dashboard',
    path: `${origin}/#${new URLSearchParams({ url: demo.url }).toString()}`,
    prepare: async (page) => {
      await page.getByLabel('Read-only key').fill(demo.key);
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.locator('[data-part=customers]').getByText('QUICK-Stop').waitFor();
      await page.locator('#live[data-state=live]').waitFor();
    },
  };
  for (const { name, path, prepare } of [...SHOTS, dashboard]) {
    for (const theme of THEMES) {
      for (const width of WIDTHS) {
        const { page, close } = await visitor(browser, [demo.url, origin], { theme, width });
        await page.goto(new URL(path, demo.url).href);
        await prepare(page);
        // keys must not appear in pictures, even though this one no longer works afterwards
        await page.evaluate((key) => {
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const { currentNode: node } = walker;
            node.textContent = node.textContent?.replaceAll(key, 'svc_live_…') ?? '';
          }
        }, demo.key);
        await page.screenshot({ path: join(IMAGES, `${name}-${String(width)}-${theme}.png`) });
        await close();
      }
    }
  }
  await browser.close();
  await demo.stop();
  site.close();
  await compress();
}

/** Reduces the number of colours, which is not visible for text on a plain background. */
async function compress(): Promise<void> {
  const files = (await readdir(IMAGES)).filter((name) => name.endsWith('.png')).map((name) => join(IMAGES, name));
  const pngquant = findProgram('pngquant');
  if (pngquant) spawnSync(pngquant, ['--force', '--skip-if-larger', '--strip', '--ext', '.png', '64', ...files]);
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  process.stdout.write(`${String(files.length)} pictures, ${String(Math.round(total / 1024))} KiB\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  // the browser and the demo would keep this process running
  process.exit(1);
});
