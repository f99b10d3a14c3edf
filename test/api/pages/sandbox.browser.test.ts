import type { Frame, Page } from 'playwright-core';
import type { Json } from '../../support/client';
import { expectAccessible, inBrowser } from '../../support/browser';
import { enterKey, pagesScene } from '../../support/fixtures/pages';

/* The page around Apollo Sandbox, with a frame of ours in place of Apollo's, which cannot be reached here. */

const ORIGIN = 'https://sandbox.embed.apollographql.com';
const FRAME = `<!doctype html><html lang="en"><title>Sandbox</title><script>
  const heard = [];
  addEventListener('message', ({ data }) => heard.push(data));
  parent.postMessage({ name: 'ExplorerListeningForHandshake' }, '*');
</script>`;

inBrowser('the page of Apollo Sandbox', () => {
  const scene = pagesScene();
  const endpoint = () => `${scene.gateway.url}/graphql`;

  /** Opens the page with the frame, and a function that sends its messages and returns the answers to them. */
  async function opened(page: Page): Promise<{ frame: Frame; tell: Tell }> {
    // the page leaves when the frame is not there after 10 s
    await page.addInitScript(
      'const later = setTimeout; window.setTimeout = (work, ms, ...rest) => later(work, ms < 10_000 ? ms : 20 * ms, ...rest);',
    );
    await page.route(`${ORIGIN}/**`, (route) => route.fulfill({ contentType: 'text/html', body: FRAME }));
    await page.goto(endpoint());
    await page.locator('#loading').waitFor({ state: 'detached' });
    const frame = page.frames().find((frame) => frame.url().startsWith(ORIGIN))!;
    await frame.waitForFunction('heard.length === 1');
    const tell: Tell = async (messages, answers) => {
      await frame.evaluate(
        `heard.length = 0; for (const one of ${JSON.stringify(messages)}) parent.postMessage(one, '*');`,
      );
      await frame.waitForFunction(`heard.length >= ${String(answers)}`);
      return frame.evaluate<Json[]>('heard');
    };
    return { frame, tell };
  }

  type Tell = (messages: readonly object[], answers: number) => Promise<Json[]>;

  const request = (operation: string, headers: object, endpointUrl = endpoint()): object => ({
    name: 'ExplorerRequest',
    operationId: '1',
    operation,
    headers,
    endpointUrl,
  });

  test('has schema and answers for the frame, and no key', async () => {
    const page = await scene.visit('/errors');
    const { frame, tell } = await opened(page);
    const parameters = new URL(frame.url()).searchParams;
    expect(parameters.get('endpoint')).toBe(endpoint());
    const headers = JSON.parse(parameters.get('defaultHeaders')!) as object;
    expect(headers).toEqual({ Authorization: 'Bearer svc_live_…' });
    await enterKey(page, scene.key);
    expect(await page.evaluate('sessionStorage.length')).toBe(1);

    const query = '{ me { organisation { name } } }';
    const [answer] = await tell([request(query, headers)], 1);
    expect(answer).toMatchObject({
      name: 'ExplorerResponse',
      response: { status: 200, data: { me: { organisation: { name: 'Northwind Traders' } } } },
    });
    const introspection = { query: '{ __schema { queryType { name } } }', operationName: null };
    const [schema] = await tell(
      [
        {
          name: 'IntrospectionQueryWithHeaders',
          introspectionRequestBody: JSON.stringify(introspection),
          introspectionRequestHeaders: headers,
          sandboxEndpointUrl: endpoint(),
          operationId: '2',
        },
      ],
      1,
    );
    expect(schema).toMatchObject({ name: 'SchemaResponse', schema: { __schema: { queryType: { name: 'Query' } } } });
    expect(JSON.stringify([answer, schema]) + frame.url()).not.toContain(scene.key);
    await expectAccessible(page);
  });

  test('opens no window or socket for the frame, stores nothing, and asks nothing but /graphql', async () => {
    const page = await scene.visit('/errors');
    const { tell } = await opened(page);
    await enterKey(page, scene.key);
    const requests: string[] = [];
    page.on('request', (one) => requests.push(one.url()));
    page.on('websocket', (one) => requests.push(one.url()));
    const socket = {
      operationId: '1',
      subscriptionUrl: endpoint().replace('http', 'ws'),
      protocol: 'graphql-ws',
      headers: {},
    };
    const answers = await tell(
      [
        { name: 'SetPartialAuthenticationTokenForParent', localStorageKey: 'x', partialToken: 'theirs' },
        { name: 'TriggerLogoutInParent', localStorageKey: 'x' },
        { name: 'PreflightOAuthRequest', oauthUrl: `${scene.gateway.url}/errors` },
        { name: 'ExplorerSubscriptionRequest', operation: 'subscription { events { id } }', ...socket },
        request('{ __typename }', { Authorization: 'Bearer …' }, `${scene.gateway.url}/settings/graphql`),
      ],
      2,
    );
    expect(answers).toEqual([
      expect.objectContaining({
        name: 'ExplorerSubscriptionResponse',
        response: { error: { message: 'Subscriptions run in GraphiQL, at /graphiql.' } },
      }),
      expect.objectContaining({
        response: expect.objectContaining({ errors: [{ message: `Requests go to ${endpoint()} only.` }] }),
      }),
    ]);
    // after what came before it
    await tell([request('{ __typename }', { Authorization: 'Bearer …' })], 1);
    expect(requests).toEqual([endpoint()]);
    expect(page.context().pages()).toHaveLength(1);
    expect(await page.evaluate('localStorage.length')).toBe(0);
  });
});
