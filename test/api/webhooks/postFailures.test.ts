import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server, Socket } from 'node:net';
import { createAddressPolicy } from '../../../src/webhooks/addresses';
import { failureText } from '../../../src/webhooks/failures';
import { createPoster } from '../../../src/webhooks/post';
import { SELF_SIGNED } from './certificate';

/* Receivers whose TLS does not work, or that reset connections. */

const policy = createAddressPolicy(['127.0.0.0/8']);

/** A server that answers the first bytes of a connection with an alert of TLS. */
const alerting = (alert: number): Server =>
  createNetServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, alert])));
  });

test.each<[string, () => Server, string]>([
  ['has a certificate of its own', () => createServer(SELF_SIGNED), 'the certificate is self-signed'],
  ['speaks HTTP', () => createHttpServer(), 'what answers at this port does not speak TLS'],
  [
    'speaks SSH',
    () => createNetServer((socket) => void socket.on('error', () => undefined).end('SSH-2.0-OpenSSH_9.2p1\r\n')),
    'what answers at this port does not speak TLS',
  ],
  [
    'is too old',
    () => createServer({ ...SELF_SIGNED, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    'the server speaks no version of TLS from 1.2 on',
  ],
  ['refuses the ciphers', () => alerting(40), 'the server accepts none of the ciphers that are offered'],
  ['does not know the name', () => alerting(112), 'the server does not know this host name'],
  ['wants a certificate', () => alerting(42), 'the server asks for a client certificate, which is never sent'],
  ['has a fault of its own', () => alerting(80), 'the server ended the handshake'],
])('the failure of a receiver that %s is a sentence', async (_title, make, sentence) => {
  const server = make().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const poster = createPoster({ policy });
  const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const outcome = await poster.post({ url, headers: {}, body: '{}' });
  poster.close();
  server.close();
  expect(outcome).toMatchObject({ ok: false, status: null, error: `TLS failed: ${sentence}` });
});

test.each([
  ['CERT_HAS_EXPIRED', 'the certificate has expired'],
  ['CERT_NOT_YET_VALID', 'the certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another host name'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'the server asks for a client certificate, which is never sent'],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', 'the server asks for a client certificate, which is never sent'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'the certificate is from an authority that is not publicly trusted'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'the certificate is from an authority that is not publicly trusted, or the server does not send the intermediate certificates',
  ],
  ['CERT_REVOKED', 'the certificate is not valid'],
  ['ERR_SSL_UNHEARD_OF', 'the server ended the handshake'],
])('%s is a sentence without the text of the library', (code, sentence) => {
  const message = `805C532EC27F0000:error:0A000000:SSL routines:f:${code}:../deps/openssl/ssl/record/x.c:1601:\n`;
  expect(failureText(Object.assign(new Error(message), { code }))).toBe(`TLS failed: ${sentence}`);
});

test('another error of the system is named by its code', () => {
  expect(failureText(Object.assign(new Error('write EIO'), { code: 'EIO' }))).toBe('the request failed (EIO)');
});

/* A receiver that answers once per connection, then reads the next request and resets the connection. */
test('an event is posted at most twice per attempt, however many connections are kept alive', async () => {
  let heads = 0;
  const waiting: Socket[] = [];
  const answer = (socket: Socket): void => {
    socket.write('HTTP/1.1 204 No Content\r\n\r\n');
  };
  const server = createNetServer((socket) => {
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
  const poster = createPoster({ policy });
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
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined).on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const poster = createPoster({ policy });
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
