import { describeVariables, publicPath, readConfig } from '../../src/config';
import { faultsOf } from '../support/configFaults';

describe("the operator's webhook", () => {
  const secret = (bytes: number): string => `whsec_${Buffer.alloc(bytes, bytes).toString('base64')}`;
  const OPERATOR_WEBHOOK_URL = 'http://hooks.internal/scopegate';

  test('has a URL, and one secret or two', () => {
    const OPERATOR_WEBHOOK_SECRET = `${secret(24)} ${secret(64)}`;
    const read = readConfig({ OPERATOR_WEBHOOK_URL, OPERATOR_WEBHOOK_SECRET });
    expect(read.OPERATOR_WEBHOOK_SECRET?.map(({ length }) => length)).toEqual([24, 64]);
    expect(faultsOf({ OPERATOR_WEBHOOK_URL })).toContain('OPERATOR_WEBHOOK_SECRET: must be set');
  });

  test.each(['whsec_', 'secret', secret(23), secret(65), `${secret(24)}x`, [24, 25, 26].map(secret).join(' ')])(
    'refuses the secret %s without repeating it',
    (OPERATOR_WEBHOOK_SECRET) => {
      const message = faultsOf({ OPERATOR_WEBHOOK_URL, OPERATOR_WEBHOOK_SECRET });
      expect(message).toContain('OPERATOR_WEBHOOK_SECRET: ');
      if (OPERATOR_WEBHOOK_SECRET.length > 10) expect(message).not.toContain(OPERATOR_WEBHOOK_SECRET);
    },
  );

  test.each(['hooks.internal', 'ftp://a', 'https://user:password@a'])('refuses the URL %s', (url) => {
    const environment = { OPERATOR_WEBHOOK_URL: url, OPERATOR_WEBHOOK_SECRET: secret(24) };
    expect(faultsOf(environment)).toContain('OPERATOR_WEBHOOK_URL: must be an http or https URL');
  });
});

describe('the environment', () => {
  test('may be empty', () => {
    expect(readConfig({})).toMatchObject({
      PORT: 4000,
      HOST: '127.0.0.1',
      SHARD_FILES: 60_000,
      CONTROL_DATABASE: 'scopegate',
      KEY_PEPPER: '',
      KEY_PREFIX: 'svc_live_',
      RATE_LIMIT_PER_MINUTE: 600,
      INTROSPECTION: 'key',
      CORS_ORIGINS: [],
      TRUST_PROXY: 0,
      LOG_LEVEL: 'info',
      DATA_DIR: '.data',
    });
  });

  test('suggests the intended network for a webhook range with host bits set', () => {
    expect(readConfig({ WEBHOOK_ALLOWED_RANGES: '::ffff:10.20.0.0/112' }).WEBHOOK_ALLOWED_RANGES).toEqual([
      '10.20.0.0/16',
    ]);
    expect(faultsOf({ WEBHOOK_ALLOWED_RANGES: '127.0.0.1,10.20.0.1/16' })).toContain(
      'WEBHOOK_ALLOWED_RANGES: 10.20.0.1/16 has host bits set: write 10.20.0.0/16 or 10.20.0.1/32',
    );
  });

  test('treats an empty variable as unset, and leaves unrelated ones alone', () => {
    const others = { HOME: '/root', npm_config_cache: 'x' };
    const empty = { PORT: '', MONGODB_URI: '', CORS_ORIGINS: '', INTROSPECTION: '' };
    expect(readConfig({ ...empty, ...others })).toEqual(readConfig({}));
  });

  test('is rejected with all invalid variables, by name', () => {
    const invalid = {
      PORT: 'http',
      MONGODB_URI: 'postgres://localhost',
      RATE_LIMIT_PER_MINUTE: '0',
      KEY_PREFIX: 'Svc-',
      INTROSPECTION: 'maybe',
      CORS_ORIGINS: 'https://app.example/path',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: '-1',
    };
    const [, ...lines] = faultsOf({ ...invalid, HOST: '127.0.0.1' }).split('\n');
    expect(lines.map((line) => line.trim().split(':')[0]).sort()).toEqual(Object.keys(invalid).sort());
    expect(faultsOf({ CONTROL_DATABASE: 'a/b' })).toContain(
      'CONTROL_DATABASE: must be 1 to 38 letters, digits, _ and -',
    );
    expect(lines).toContain('  INTROSPECTION: must be one of public, key, off');
  });

  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['RATE_LIMIT_PER_MINUTE', 'many'],
    ['TRUST_PROXY', 'true'],
    ['CONTROL_DATABASE', 'a/b'],
    ['CONTROL_DATABASE', 'a'.repeat(39)],
    ['OPERATOR_ALLOW', ','],
    ['OPERATOR_ALLOW', ' '],
    ['KEY_PREFIX', 'svc'],
    ['KEY_PREFIX', '_'],
    ['KEY_PREFIX_TEST', 'svc_live_'],
    ['KEY_PREFIX_TEST', 'svc_'],
    ['KEY_PREFIX_TEST', 'svc_live_try_'],
    ['KEY_PREFIX_APP', 'svc_test_'],
    ['KEY_PREFIX_APP', 'svc_'],
    ...['http://id.example', 'id.example', 'ftp://id.example'].map((issuer) => ['OIDC_ISSUER', issuer]),
    ...[
      ...[
        'https://keys.example/',
        'https://keys.example/path/',
        'https://keys.example//path',
        'https://keys.example/a/../b',
      ],
      ...['https://keys.example/?', 'https://keys.example/a?b', 'https://keys.example/a#b', 'https://keys.example/a b'],
      ...['https://keys.example/"x', 'https://user@keys.example', 'keys.example', 'ws://keys.example'],
    ].map((url) => ['PUBLIC_URL', url]),
    ...[
      ...['http://help.example', 'javascript:alert(1)', 'mailto:', 'mailto:ann', 'help@example.com', 'https:'],
      ...['https://help.example/a b', 'data:text/html,x'],
    ].map((url) => ['CONTACT_URL', url]),
    // what no browser sends as an origin
    ...[
      ...['app.example', 'https://app.example/', 'https://app.example/path', 'https://app.example:443', 'null'],
      ...['https://App.example', 'https://user@app.example', 'https://*.app.example', 'chrome-extension://*'],
      ...['capacitor://localhost/', 'localhost:3000'],
    ].map((origin) => ['CORS_ORIGINS', origin]),
  ])('is rejected with %s=%s', (name = '', value = '') => {
    expect(faultsOf({ [name]: value })).toMatch(new RegExp(`^ {2}${name}: (?!must be set)`, 'm'));
  });
});

test.each(['MONGODB_CLUSTERS', 'MONGODB_CLUSTERS_FILE'])(
  '%s of the version before is refused in one sentence that says what to do, without its value',
  (name) => {
    const message = faultsOf({ [name]: 'eu=mongodb://user:secret@host' });
    expect(message).toMatch(new RegExp(`^ {2}${name}: is gone, .*export .*import .*docs/guides/sharding\\.md`, 'm'));
    expect(message.split('\n')).toHaveLength(2);
    expect(message).not.toContain('secret');
  },
);

describe('REDIS_URL', () => {
  test.each(['redis://cache', 'rediss://:pass@cache:6380/1', 'redis://user:p%2Fss@[::1]:6379', 'redis://127.0.0.1'])(
    'accepts %s',
    (REDIS_URL) => {
      expect(readConfig({ REDIS_URL }).REDIS_URL).toBe(REDIS_URL);
    },
  );

  test.each([
    ...['redis://', 'redis://h:99999', 'redis://:sec/ret@h', 'redis://:sec#ret@h:6379', 'redis://u:1/sec@h'],
    ...['redis://:50%sec@h', 'redis://sec%:ret@h', 'redis://:sec%ff@h'],
  ])('rejects %s with a sentence that does not repeat it', (REDIS_URL) => {
    const message = faultsOf({ REDIS_URL });
    expect(message).toMatch(/^ {2}REDIS_URL: must be redis:.*percent-encoded/m);
    expect(message).not.toMatch(/sec|ret@/);
  });
});

test.each([
  ...['collector:4318', 'http://collector:4318/v1/traces', 'http://collector:4318/v1/traces/', 'grpc://collector'],
  ...['https://collector/otlp?tenant=a', 'https://collector/#a'],
])('OTEL_EXPORTER_OTLP_ENDPOINT rejects %s', (OTEL_EXPORTER_OTLP_ENDPOINT) => {
  const message = 'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https URL, without /v1/traces';
  expect(faultsOf({ OTEL_EXPORTER_OTLP_ENDPOINT })).toContain(message);
});

test('CORS_ORIGINS accepts origins, of apps too, and *, with white space and extra commas', () => {
  const text = ' https://app.example , http://localhost:3000,,*, ';
  const apps = [
    ...['chrome-extension://abcdefghijklmnopabcdefghijklmnop', 'capacitor://localhost'],
    'moz-extension://1f3d1e6e-0c5c-4c7e-9b6a-6a1f0b9a7c11',
  ];
  const origins = ['https://app.example', 'http://localhost:3000', '*', ...apps];
  expect(readConfig({ CORS_ORIGINS: text + apps.join(',') }).CORS_ORIGINS).toEqual(origins);
});

test('every variable has a one-line description with its default', () => {
  const config = readConfig({}) as unknown as Record<string, unknown>;
  const described = new Map(describeVariables().map((variable) => [variable.name, variable]));
  for (const name of Object.keys(config).filter((key) => key !== 'PATH')) expect(described.has(name)).toBe(true);
  for (const { name, help, fallback } of described.values()) {
    expect(help).toMatch(/^\S.{5,}[^.]$/);
    if (fallback !== '') expect(String(config[name])).toBe(fallback);
  }
});

test.each([
  ['https://keys.example', ''],
  ['http://127.0.0.1:8080', ''],
  ['https://keys.example/quotes', '/quotes'],
  ['https://keys.example/apps/quotes-2.0', '/apps/quotes-2.0'],
])('PUBLIC_URL can be %s, whose path is %j', (PUBLIC_URL, path) => {
  expect(publicPath(readConfig({ PUBLIC_URL }))).toBe(path);
});

test("signing in with OpenID Connect requires the issuer's other variables, and names missing ones", () => {
  const whole = {
    OIDC_ISSUER: 'https://id.example/realms/acme',
    OIDC_CLIENT_ID: 'scopegate',
    OIDC_CLIENT_SECRET: 'x',
    PUBLIC_URL: 'https://keys.example',
  };
  expect(readConfig(whole)).toMatchObject({ ...whole, OIDC_ROLE_CLAIM: 'scopegate_role' });
  const faults = faultsOf({ OIDC_ISSUER: whole.OIDC_ISSUER });
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'PUBLIC_URL'])
    expect(faults).toContain(`${name}: must be set`);
});
