import type { Locator, Page } from 'playwright-core';
import { UUID } from '../../../src/units';
import { eventually } from '../http/eventually';
import type { Json } from '../../support/client';
import {
  button,
  copied as clipboard,
  hasFocus,
  hold,
  inBrowser,
  press,
  says,
  settled,
  unsent,
} from '../../support/browser';
import { BROKEN, enterKey, keyForm, output, pagesScene } from '../../support/fixtures/pages';

const SECRETS = `JSON.stringify([location.href, document.cookie, { ...localStorage }, history.state, document.body.innerText])`;

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

  /** What the Copy button copies for each language. */
  async function copied(page: Page, operation: Locator): Promise<Record<string, string>> {
    const texts: Record<string, string> = {};
    for (const language of Object.keys(RUN)) {
      const samples = operation.getByRole('region', { name: /^Request / });
      await samples.getByRole('button', { name: language }).click();
      await button(samples, /^Cop/).first().click();
      // copied again within 3 s, it says so already
      texts[language] = await eventually(async () => {
        const text = await clipboard(page);
        return text === (await samples.getByRole('group', { name: 'Sample' }).innerText()) ? text : undefined;
      });
    }
    await operation.getByRole('button', { name: 'Copied' }).waitFor();
    return texts;
  }

  async function runAll(texts: Record<string, string>, answer: string): Promise<void> {
    for (const [language, text] of Object.entries(texts)) {
      expect(text).not.toContain(scene.key);
      const printed = await output(RUN[language]!, text, { SCOPEGATE_KEY: scene.key });
      expect({ language, printed }).toEqual({ language, printed: expect.stringContaining(answer) });
    }
  }

  test("run as copied, with the key from the environment and the visitor's input", async () => {
    const page = await scene.visit('/api/v1/docs#/products/upsert_products');
    await enterKey(page, scene.key);
    const write = page.locator('#operations-products-upsert_products');
    await write
      .getByRole('region', { name: /^Request / })
      .getByText('NW-001')
      .waitFor();
    // every character that could end a quotation
    const name = `it's "5\\" $HOME \`x\` \${y} é {z}`;
    const products = [{ sku: 'SAMPLE-1', name, active: true, unit_price_minor: null }];
    await write.locator('textarea').fill(JSON.stringify({ products, atomic: false, dry_run: true }, null, 2));
    await runAll(await copied(page, write), 'SAMPLE-1');

    await page.locator('a[href="#/products/list_products"]').click();
    const read = page.locator('#operations-products-list_products');
    expect((await copied(page, read)).curl).not.toContain('?');
    await read.getByPlaceholder('q', { exact: true }).fill("chai & it's");
    await read.getByRole('region').getByText('chai').waitFor();
    await runAll(await copied(page, read), 'has_more');
    // Swagger UI's own command would contain the key
    await read.getByRole('button', { name: 'Send request' }).click();
    await read.locator('.answer').waitFor();
    expect(await page.evaluate(SECRETS)).not.toContain(scene.key);
  }, 180_000);

  test('samples of writes are valid as copied, and running one twice stores it once', async () => {
    const runs = async (text: string): Promise<Json> =>
      JSON.parse(await output(RUN.curl!, text.replace('curl', 'curl -s'), { SCOPEGATE_KEY: scene.key }));
    const page = await scene.visit('/api/v1/docs');
    await enterKey(page, scene.key);
    const samples = async (tag: string, id: string): Promise<Record<string, string>> => {
      await page.locator(`a[href="#/${tag}/${id}"]`).click();
      const operation = page.locator(`#operations-${tag}-${id}`);
      await operation.locator('.column pre').waitFor();
      return copied(page, operation);
    };
    for (const [tag, id] of [
      ['products', 'upsert_products'],
      ['customers', 'upsert_customers'],
    ] as const) {
      for (const [language, text] of Object.entries(await samples(tag, id))) {
        const printed = await output(RUN[language]!, text, { SCOPEGATE_KEY: scene.key });
        expect({ id, language, printed }).toEqual({ id, language, printed: expect.stringMatching(/failed\W+0/) });
      }
    }
    const open = await samples('requests', 'open_request');
    for (const text of Object.values(open)) expect(text).toContain('Idempotency-Key');
    const own = open.curl!.replace(/"customer_id": ".*",/, '');
    const [first, again] = [await runs(own), await runs(own)];
    expect(first).toMatchObject({ status: 'open', id: again.id });
    // copied again, it is a new request
    expect((await samples('requests', 'open_request')).curl).not.toBe(open.curl);
    // Send request sends a new one each time
    const write = page.locator('#operations-requests-open_request');
    await write.locator('textarea').fill(JSON.stringify({ text: 'Twice' }));
    const keys: (string | undefined)[] = [];
    for (const _click of [1, 2]) {
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      await write.getByRole('button', { name: 'Send request' }).click();
      keys.push((await sent).headers()['idempotency-key']);
      await write.getByText('Sending…').waitFor({ state: 'detached' });
    }
    expect(keys).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(keys[0]).not.toBe(keys[1]);
  }, 120_000);

  test('a key entered once works in the reference and the explorer of this tab, until it is forgotten', async () => {
    const page = await scene.visit('/api/v1/docs');
    await enterKey(page, scene.key);
    expect(await keyForm(page).innerText()).not.toContain(scene.key);
    await page.goto(`${scene.gateway.url}/graphiql`);
    await keyForm(page).getByText('Northwind Traders').waitFor();
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.graphiql-response').getByText('total_minor').first().waitFor();
    expect(await page.evaluate(SECRETS)).not.toContain(scene.key);
    // another tab is another visitor
    const other = await page.context().newPage();
    await other.goto(`${scene.gateway.url}/api/v1/docs`);
    await keyForm(other).getByLabel('API key').waitFor();
    await other.close();

    await press(keyForm(page), 'Forget key');
    await keyForm(page).getByLabel('API key').waitFor();
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('svc_');
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.graphiql-response').getByText('Enter your API key').waitFor();
    await page.goto(`${scene.gateway.url}/api/v1/docs#/me/get_me`);
    await page.locator('#operations-me-get_me').getByRole('button', { name: 'Send request' }).click();
    await says(keyForm(page), 'Enter your API key to send the request.');
    await hasFocus(keyForm(page).getByLabel('API key'));
    await enterKey(page, scene.key);
    await page.locator('#operations-me-get_me .answer').waitFor();
  }, 120_000);

  test('a rejected key is not kept, and one entered in the meantime is', async () => {
    const page = await scene.visit({ path: '/api/v1/docs', tolerates: BROKEN });
    const field = keyForm(page).getByLabel('API key');
    const enter = async (text: string): Promise<void> => {
      await field.fill(text);
      await page.keyboard.press('Enter');
    };
    const next = await hold(page, '**/api/v1/me', undefined, 1);
    await enter('svc_live_slow');
    const slow = await next();
    await enterKey(page, scene.key);
    await slow.fulfill({ response: await slow.fetch() });
    await settled(page);
    expect(await keyForm(page).getByText('Northwind Traders').isVisible()).toBe(true);
    await press(keyForm(page), 'Forget key');
    for (const [typed, text] of [
      ['svc_live_wrong', 'The gateway refuses this key'],
      ['svc_live_…', 'letters, digits and underscores'],
    ] as const) {
      await enter(typed);
      await says(keyForm(page), text);
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(typed);
      expect(await field.inputValue()).toBe(typed);
    }
    // a rejected key can be replaced by typing
    await enter('svc_live_wrong');
    await says(keyForm(page), 'The gateway refuses this key');
    await page.keyboard.insertText(` "Bearer '${scene.key}'", `);
    await page.keyboard.press('Enter');
    await keyForm(page).getByText('Northwind Traders').waitFor();
  });

  test("the demo's key does not replace one that is being typed", async () => {
    const page = await scene.visit('/errors');
    await page.route('**/api/v1/docs', async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replace('{"document":', `{"key":"${scene.key}","document":`);
      await route.fulfill({ response, body: text });
    });
    const next = await hold(page, '**/api/v1/me');
    await page.goto(`${scene.gateway.url}/api/v1/docs`);
    const demo = await next();
    const field = keyForm(page).getByLabel('API key');
    await field.fill('svc_live_typed');
    await demo.fulfill({ response: await demo.fetch() });
    await settled(page);
    expect(await field.inputValue()).toBe('svc_live_typed');
  });

  test('a link to an operation leaves the focus where a key is being typed', async () => {
    const page = await scene.visit('/errors');
    const next = await hold(page, '**/openapi.json');
    await page.goto(`${scene.gateway.url}/api/v1/docs#/customers/get_customer`);
    const document = await next();
    const field = keyForm(page).getByLabel('API key');
    await field.fill('svc_live_typed');
    await document.fulfill({ response: await document.fetch() });
    await page.locator('#operations-customers-get_customer .responses-table').waitFor({ state: 'attached' });
    await settled(page);
    await hasFocus(field);
  });

  test.each(['/api/v1/docs', '/graphiql', '/graphql'])(
    '%s says that it is loading, and does not submit the key while its scripts are missing',
    async (path) => {
      // without the policy, which would also prevent it
      const page = await scene.visit({ path: '/errors', bypassCSP: true, tolerates: BROKEN });
      await page.route('**/*.js', unsent);
      await page.goto(scene.gateway.url + path);
      await says(page, 'Loading');
      await keyForm(page).getByLabel('API key').fill('svc_live_secret');
      await page.keyboard.press('Enter');
      expect(await button(keyForm(page), 'Use key').isDisabled()).toBe(true);
      expect(await keyForm(page).getByLabel('API key').inputValue()).toBe('svc_live_secret');
      expect(page.url()).toBe(scene.gateway.url + path);
    },
  );

  test('Send request reports an unreachable gateway, and while it waits marks the previous answer and sends nothing else', async () => {
    const page = await scene.visit({ path: '/api/v1/docs#/customers/get_customer', tolerates: BROKEN });
    await enterKey(page, scene.key);
    const read = page.locator('#operations-customers-get_customer');
    const answer = read.locator('.answer');
    const opacity = (): Promise<string> =>
      answer.evaluate((one: unknown) => globalThis.getComputedStyle(one as never).opacity);
    await read.getByRole('button', { name: 'Send request' }).click();
    await answer.waitFor();
    const now = await opacity();
    const next = await hold(page, '**/api/v1/customers/*');
    await read.getByRole('button', { name: 'Send request' }).click();
    await says(read, 'Sending…');
    let sent = 0;
    page.on('request', () => (sent += 1));
    await button(read, 'Send request').press('Enter');
    await settled(page);
    // of `settled` itself
    expect(sent).toBe(1);
    expect(await opacity()).not.toBe(now);
    await says(answer, 'Previous answer');
    await unsent(await next());
    await says(answer, 'The gateway cannot be reached. Check your connection, then send this again.');
    expect(await answer.innerText()).not.toMatch(/CORS|Undocumented/);
    expect(await opacity()).toBe(now);
    // a sample reflects the fields, even if they are empty
    const sample = read.getByRole('region');
    await read.getByPlaceholder('id', { exact: true }).fill('');
    await sample.getByText('Enter id first.').waitFor();
    expect(await sample.innerText()).toContain('/api/v1/customers/{id}');
  });
});
