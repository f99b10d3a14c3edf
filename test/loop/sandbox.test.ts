import { watch, watchedGateway } from '../support/watchdog';

/* Opening a sandbox stores about two thousand records, in the gateway's own process. */

const gateway = watchedGateway();

test('ten organisations open their sandboxes at once', async () => {
  const cookies = await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const { id } = await gateway.cli.json<{ id: string }>('org', 'create', '--name', `Trial ${String(at)}`);
      const { url } = await gateway.cli.json<{ url: string }>('org', 'link', '--org', id);
      const body = new URLSearchParams({ link: new URL(url).searchParams.get('link') ?? '' });
      return post('/settings/sign-in', body).then(
        ({ headers }) => (headers.getSetCookie()[0] ?? '').split(';')[0] ?? '',
      );
    }),
  );
  const opened: number[] = [];
  await watch(gateway, 'ten sandboxes', async () => {
    const answers = cookies.map(async (cookie) => {
      const page = await (
        await fetch(`${gateway.url}/settings/integrations`, { headers: { cookie, connection: 'close' } })
      ).text();
      const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
      return (await post('/settings/mode', new URLSearchParams({ csrf, mode: 'test' }), cookie)).status;
    });
    opened.push(...(await Promise.all(answers)));
  });
  expect(opened).toEqual(Array(10).fill(303));
});

const post = (path: string, body: URLSearchParams, cookie = ''): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { accept: 'text/html', cookie, connection: 'close' },
    body,
    redirect: 'manual',
  });
