import { ConfigError, describeVariables, readConfig } from '../../src/config';

function faultsOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the environment was taken');
}

describe('the environment', () => {
  test('needs nothing', () => {
    expect(readConfig({})).toMatchObject({
      PORT: 4000,
      HOST: '127.0.0.1',
      MONGODB_CLUSTERS: {},
      CONTROL_DATABASE: 'scopegate',
      KEY_PEPPER: '',
      KEY_PREFIX: 'svc_live_',
      RATE_LIMIT_PER_MINUTE: 600,
      INTROSPECTION: 'key',
      CORS_ORIGINS: [],
      TRUST_PROXY: 0,
      LOG_LEVEL: 'info',
      DATA_DIR: '.data',
      PATH: '',
    });
  });

  test('has an empty variable as not set', () => {
    expect(readConfig({ PORT: '', MONGODB_URI: '', CORS_ORIGINS: '', INTROSPECTION: '' })).toEqual(readConfig({}));
  });

  test('may hold what is none of ours', () => {
    expect(readConfig({ HOME: '/root', npm_config_cache: 'x' })).toEqual(readConfig({}));
  });

  test('is refused with every fault at once, each by its name', () => {
    const message = faultsOf({
      PORT: 'http',
      MONGODB_URI: 'postgres://localhost',
      RATE_LIMIT_PER_MINUTE: '0',
      KEY_PREFIX: 'Svc-',
      INTROSPECTION: 'maybe',
      CORS_ORIGINS: 'https://app.example/path',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: '-1',
      HOST: '127.0.0.1',
    });
    const named = message
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(':')[0]);
    expect(named.sort()).toEqual(
      [
        'PORT',
        'MONGODB_URI',
        'RATE_LIMIT_PER_MINUTE',
        'KEY_PREFIX',
        'INTROSPECTION',
        'CORS_ORIGINS',
        'LOG_LEVEL',
        'TRUST_PROXY',
      ].sort(),
    );
  });

  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['RATE_LIMIT_PER_MINUTE', 'many'],
    ['TRUST_PROXY', 'true'],
    ['CONTROL_DATABASE', 'a/b'],
    ['CONTROL_DATABASE', 'a'.repeat(39)],
    ['MONGODB_CLUSTERS', 'eu'],
    ['MONGODB_CLUSTERS', 'eu=mongodb://a,us=http://b'],
    ['KEY_PREFIX', 'svc'],
    ['KEY_PREFIX', '_'],
  ])('is refused with %s=%s', (name, value) => {
    expect(faultsOf({ [name]: value })).toContain(`${name}:`);
  });

  test('names clusters by what stands before the first =', () => {
    const uri = 'mongodb+srv://user:pass@host/?retryWrites=true';
    expect(readConfig({ MONGODB_CLUSTERS: `eu-1=${uri}, us=mongodb://b` }).MONGODB_CLUSTERS).toEqual({
      'eu-1': uri,
      us: 'mongodb://b',
    });
  });
});

describe('CORS_ORIGINS', () => {
  test('takes origins and *, with white space and stray commas', () => {
    const text = ' https://app.example , http://localhost:3000,,*, ';
    expect(readConfig({ CORS_ORIGINS: text }).CORS_ORIGINS).toEqual([
      'https://app.example',
      'http://localhost:3000',
      '*',
    ]);
  });

  test.each([
    'app.example',
    'https://app.example/',
    'https://app.example/path',
    'https://app.example:443',
    'https://App.example',
    'https://user@app.example',
    'https://*.app.example',
    'null',
  ])('refuses %s, which no browser sends as an origin', (origin) => {
    expect(faultsOf({ CORS_ORIGINS: origin })).toContain('CORS_ORIGINS:');
  });
});

test('every variable is described in a line, with the default that is taken', () => {
  const config = readConfig({}) as unknown as Record<string, unknown>;
  const described = new Map(describeVariables().map((variable) => [variable.name, variable]));
  for (const name of Object.keys(config).filter((one) => one !== 'PATH')) expect(described.has(name)).toBe(true);
  for (const { name, help, fallback } of described.values()) {
    expect(help).toMatch(/^\S.{5,}[^.]$/);
    if (fallback !== '') expect(String(config[name])).toBe(fallback);
  }
});

describe('signing in by OpenID Connect', () => {
  const whole = {
    OIDC_ISSUER: 'https://id.example/realms/acme',
    OIDC_CLIENT_ID: 'scopegate',
    OIDC_CLIENT_SECRET: 'x',
    PUBLIC_URL: 'https://keys.example',
  };

  test('needs an issuer and what goes with it, each named where it is missing', () => {
    expect(readConfig(whole)).toMatchObject({ ...whole, OIDC_ROLE_CLAIM: 'scopegate_role' });
    const faults = faultsOf({ OIDC_ISSUER: whole.OIDC_ISSUER });
    for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'PUBLIC_URL'])
      expect(faults).toContain(`${name}: must be set`);
  });

  test.each(['http://id.example', 'id.example', 'ftp://id.example'])('does not take the issuer %s', (OIDC_ISSUER) => {
    expect(faultsOf({ ...whole, OIDC_ISSUER })).toContain('OIDC_ISSUER');
  });

  test.each(['https://keys.example/', 'https://keys.example/path', 'keys.example', 'ws://keys.example'])(
    'does not take the PUBLIC_URL %s',
    (PUBLIC_URL) => {
      expect(faultsOf({ ...whole, PUBLIC_URL })).toContain('PUBLIC_URL');
    },
  );
});
