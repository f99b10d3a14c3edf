import { once } from 'node:events';
import { connect } from 'node:net';
import { startGateway } from '../../support/gateway';

/** Asks over a connection that stays open; resolves with the head of the answer, and with when the gateway closes it. */
async function ask(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const closed = once(socket, 'end');
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { socket, closed, head: head.toString() };
}

test('an idle connection is kept for 65 s, or as long as KEEP_ALIVE_TIMEOUT says', async () => {
  for (const [environment, seconds] of [[{}, 65] as const, [{ KEEP_ALIVE_TIMEOUT: '620' }, 620] as const]) {
    await using gateway = await startGateway(environment);
    const { socket, head } = await ask(gateway.url);
    expect(head).toMatch(new RegExp(`^Keep-Alive: timeout=${String(seconds)}\\r$`, 'm'));
    socket.destroy();
  }
});

test('an idle connection is closed once that is over', async () => {
  await using gateway = await startGateway({ KEEP_ALIVE_TIMEOUT: '1' });
  const { closed } = await ask(gateway.url);
  await closed;
});
