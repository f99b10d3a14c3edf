// A real OpenID Connect provider in a separate process, because Jest cannot load the ES module.
// ACCOUNTS has claims by login, as JSON; CLIENT is its only client. Prints its issuer when it is ready.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const accounts = JSON.parse(process.env.ACCOUNTS);
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [JSON.parse(process.env.CLIENT)],
    claims: { openid: ['sub'], profile: ['name'], scopegate: ['scopegate_organisation', 'scopegate_role'] },
    scopes: ['openid', 'profile', 'scopegate'],
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
    cookies: { keys: ['only for tests'] },
  });
  server.on('request', provider.callback());
  process.stdout.write(`${issuer}\n`);
});
