import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { UUID } from '../../../src/units';
import type { Json } from '../../support/client';
import { copied as clipboard, inBrowser, press, says } from '../../support/browser';
import { enterKey, output, pagesScene } from '../../support/fixtures/pages';
import { run } from '../../packages/examples/run';
import { eventually } from '../http/eventually';

/** How a sample is run from its text; Python uses pip's copy of requests if it has none of its own. */
const RUN: Readonly<Record<string, readonly [string, ...string[]]>> = {
  curl: ['bash', '-s'],
  TypeScript: [process.execPath, '--input-type=module', '-'],
  Python: [
    'python3',
    '-c',
    'import sys\ntry: import requests\nexcept ImportError:\n from pip._vendor import requests\n sys.modules["requests"] = requests\nexec(sys.stdin.read())',
  ],
};

inBrowser('samples in the reference', () => {
  const scene = pagesScene();
  const visit = (path: string): Promise<Page> => scene.visit(`/api/v1/docs/${path}`);

  /** What the Copy button copies for each language. */
  async function copied(page: Page): Promise<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const language of Object.keys(RUN)) {
      await page.getByRole('radiogroup', { name: 'Language' }).getByText(language, { exact: true }).click();
      const shown = await page.getByLabel(`${language} sample`).innerText();
      await page.locator('#language [data-copy]').click();
      texts[language] = await eventually(async () => {
        const text = await clipboard(page);
        return text === shown ? text : undefined;
      });
    }
    return texts;
  }

  async function runAll(texts: Record<string, string>, answer: RegExp): Promise<void> {
    for (const [language, text] of Object.entries(texts)) {
      expect(text).not.toContain(scene.key);
      const printed = await output(RUN[language]!, text, { SCOPEGATE_KEY: scene.key });
      expect({ language, printed }).toEqual({ language, printed: expect.stringMatching(answer) });
    }
  }

  test("run as copied, with the key from the environment and the visitor's input", async () => {
    const write = await visit('products/upsert');
    // every character that could end a quotation
    const name = `it's "5\\" $HOME \`x\` \${y} é {z}`;
    const products = [{ sku: 'SAMPLE-1', name, active: true, unit_price_minor: null }];
    await press(write, 'Try it');
    await write.getByLabel('Body').fill(JSON.stringify({ products, atomic: false, dry_run: true }, null, 2));
    await press(write, 'Close');
    await runAll(await copied(write), /SAMPLE-1/);

    const read = await visit('products/list');
    expect((await copied(read)).curl).not.toContain('?');
    await press(read, 'Try it');
    await read.getByLabel('q', { exact: true }).fill("chai & it's");
    await press(read, 'Close');
    await runAll(await copied(read), /has_more/);
  });

  test('of writes are valid as the page comes, and running one twice stores it once', async () => {
    for (const path of ['products/upsert', 'customers/upsert'])
      await runAll(await copied(await visit(path)), /failed\W+0/);
    const page = await visit('requests/open');
    const open = await copied(page);
    for (const text of Object.values(open)) expect(text).toContain('Idempotency-Key');
    const own = open.curl!.replace('curl', 'curl -s').replace(/"customer_id": ".*",/, '');
    const run = async (): Promise<Json> => JSON.parse(await output(RUN.curl!, own, { SCOPEGATE_KEY: scene.key }));
    const [first, again] = [await run(), await run()];
    expect(first).toMatchObject({ status: 'open', id: again.id });
    // copied again, it is a new request
    expect((await copied(page)).curl).not.toBe(open.curl);
    // so is each that the page sends
    await press(page, 'Try it');
    await enterKey(page, scene.key);
    const keys: (string | undefined)[] = [];
    for (const text of ['Once', 'Twice']) {
      await page.getByLabel('Body', { exact: true }).fill(JSON.stringify({ text }));
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      await press(page, 'Send request');
      keys.push((await sent).headers()['idempotency-key']);
      await says(page.getByRole('region', { name: 'Answer' }), 'HTTP 201');
      await page.getByText('Sending…').waitFor({ state: 'detached' });
    }
    expect(keys).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(keys[0]).not.toBe(keys[1]);
  });

  test('send a file, and save it in another folder as it was', async () => {
    const data = scene.gateway.databases.organisationData(scene.organisation);
    const { _id } = (await data.database.collection('products').findOne({}))!;
    const folders = await Promise.all(['there', 'back'].map((name) => mkdtemp(join(tmpdir(), `scopegate-${name}-`))));
    const [there, back] = folders as [string, string];
    const bytes = Buffer.from('%PDF-1.7\n\u00ff\u0000');
    await writeFile(join(there, 'drawing.pdf'), bytes);
    const add = await copied(await visit('products/add-attachment'));
    const download = await copied(await visit('products/get-attachment'));
    for (const [language, [command, ...args]] of Object.entries(RUN)) {
      const runIn = (cwd: string, text = '', id = ''): Promise<string> => {
        const input = text.replace(
          /products\/[^/]+\/attachments(\/[\w-]+)?/,
          `products/${String(_id)}/attachments${id}`,
        );
        return run(command, args, { cwd, input, env: { NO_PROXY: '127.0.0.1', SCOPEGATE_KEY: scene.key } });
      };
      const [, id] = /["']?id["']?: *["']([\w-]{36})/.exec(await runIn(there, add[language])) ?? [];
      await runIn(back, download[language], `/${String(id)}`);
      expect({ language, saved: await readFile(join(back, 'drawing.pdf')) }).toEqual({ language, saved: bytes });
      await rm(join(back, 'drawing.pdf'));
    }
  });
});
