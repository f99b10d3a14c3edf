import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { createAddressPolicy } from '../../../src/webhooks/addresses';
import { createPoster } from '../../../src/webhooks/post';

/* A receiver that answers once per connection, then reads the next request and resets the connection. */

test('an event is posted at most twice per attempt, however many connections are kept alive', async () => {
  let heads = 0;
  const waiting: Socket[] = [];
  const answer = (socket: Socket): void => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\n');
  };
  const server = createServer((socket) => {
    let isFirst = true;
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        if (!bytes.includes('POST ')) return;
        heads += 1;
        if (!isFirst) socket.resetAndDestroy();
        else if (heads > 8) answer(socket);
        else waiting.push(socket);
        isFirst = false;
        // all at once, so that each has its own connection
        if (heads === 8) waiting.forEach(answer);
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const poster = createPoster({ policy: createAddressPolicy(['127.0.0.0/8']) });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const send = () => poster.post({ url, headers: {}, body: '{}' });
  const all = await Promise.all(Array.from({ length: 8 }, send));
  expect(all.map(({ status }) => status)).toEqual(Array<number>(8).fill(204));
  heads = 8;
  expect(await send()).toMatchObject({ ok: true, status: 204 });
  expect(heads - 8).toBe(2);
  poster.close();
  server.close();
});

test.each(['ECONNRESET', 'EPIPE'])('an event whose kept connection says %s is posted on a new one', async (code) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const poster = createPoster({ policy: createAddressPolicy(['127.0.0.0/8']) });
  const send = () => poster.post({ url: `http://127.0.0.1:${String(port)}/`, headers: {}, body: '{}' });
  expect(await send()).toMatchObject({ ok: true });
  let failed = 0;
  const fail = jest.spyOn(Socket.prototype, '_writev' as never).mockImplementationOnce(((
    _chunks: unknown,
    done: (error: Error) => void,
  ) => {
    failed += 1;
    done(Object.assign(new Error(`write ${code}`), { code }));
  }) as never);
  expect(await send()).toMatchObject({ ok: true, status: 204 });
  expect(failed).toBe(1);
  fail.mockRestore();
  poster.close();
  server.close();
});
