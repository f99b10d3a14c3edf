import { z } from 'zod';
import { DEFAULT_KEY_PREFIX } from './access/keys';

/* The only reader of process.env. Every variable is here, with its default and a line for `--help`. */

const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

function wholeNumber(least: number, most: number): z.ZodType<number, string> {
  const isWithin = (text: string): boolean => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most;
  return z
    .string()
    .refine(isWithin, `must be a whole number from ${String(least)} to ${String(most)}`)
    .transform(Number);
}

/** What stands between two clusters: commas are in seed lists too, and part only where the next name follows. */
const BETWEEN_CLUSTERS = /[\s;]+|,(?=[\s;]|$|[a-z0-9-]+=mongodb(?:\+srv)?:\/\/)/;
/** name=uri, the uri with hosts that hold no =, as the rest of a broken entry would. */
const CLUSTER = /^([a-z0-9-]+)=(mongodb(?:\+srv)?:\/\/(?:[^/\s]*@)?[^/?@=\s]+(?:[/?]\S*)?)$/;

/** Clusters by name. A fault names an entry by its number, since an entry may hold a password. */
function readClusters(text: string, context: z.RefinementCtx): Record<string, string> {
  const clusters: Record<string, string> = {};
  const fault = (message: string): void => {
    context.addIssue({ code: 'custom', message });
  };
  text
    .split(BETWEEN_CLUSTERS)
    .filter((entry) => entry !== '')
    .forEach((entry, index) => {
      const [, name, uri] = CLUSTER.exec(entry) ?? [];
      const which = `entry ${String(index + 1)}`;
      if (name === undefined || uri === undefined)
        fault(`${which} must be name=mongodb://host[:port][,…][/?options], the name of a-z, 0-9 and -`);
      else if (name === 'default') fault(`${which} may not be called default, which is MONGODB_URI`);
      else if (name in clusters) fault(`${which} is called ${name} as one before it`);
      else clusters[name] = uri;
    });
  return clusters;
}

/** What ioredis can read, and reads as it was meant: a / or # in a password ends the host before it. */
function isRedisAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, pathname, search, hash } = new URL(text);
  return hostname !== '' && !`${pathname}${search}${hash}`.includes('@');
}

/** What a browser would send as Origin; a host with * would match none. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && !text.includes('*');
}

/** An https origin, or plain http on this machine. */
function isSecureOrLocal(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname));
}

const VARIABLES = {
  PORT: {
    schema: wholeNumber(0, 65535).default(4000),
    help: 'port to listen on; 0 takes a free one',
  },
  HOST: { schema: z.string().min(1).default('127.0.0.1'), help: 'address to listen on' },
  MONGODB_URI: {
    schema: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\//, 'must begin with mongodb:// or mongodb+srv://')
      .optional(),
    help: 'MongoDB replica set; without it an embedded database is chosen',
  },
  MONGODB_CLUSTERS: {
    schema: z.string().transform(readClusters).default({}),
    help: 'further clusters for organisations, as name=uri, with white space or ; between them; `default` is MONGODB_URI',
  },
  MONGOD_BINARY: {
    schema: z.string().min(1).optional(),
    help: 'mongod (or secantusd-rs) to start when MONGODB_URI is not set',
  },
  ALLOW_OLD_MONGODB: {
    schema: z
      .enum(['true', 'false'])
      .default('false')
      .transform((text) => text === 'true'),
    help: 'true takes a MongoDB older than 6.0, with which some operations fail',
  },
  HTTPS_PROXY: { schema: z.string().min(1).optional(), help: 'proxy for the download of an embedded database' },
  CONTROL_DATABASE: {
    schema: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,38}$/)
      .default('scopegate'),
    help: 'database that holds organisations and keys',
  },
  KEY_PEPPER: { schema: z.string().default(''), help: 'secret mixed into every key hash; changing it ends every key' },
  KEY_PREFIX: {
    schema: z
      .string()
      .regex(/^[a-z]+(_[a-z]+)*_$/, 'must be lower-case words, each followed by _')
      .default(DEFAULT_KEY_PREFIX),
    help: 'what new keys begin with',
  },
  RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(1, 1_000_000_000).default(600),
    help: 'requests a minute for each key; failed authentications, and public introspection, for each address',
  },
  REDIS_URL: {
    schema: z
      .string()
      .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
      .refine(
        isRedisAddress,
        'must be redis://[user:password@]host[:port][/database]; user name and password must be percent-encoded (/ is %2F, ? is %3F, # is %23, % is %25)',
      )
      .optional(),
    help: 'Redis or Valkey that several gateways share their limits through; in memory without it',
  },
  INSTANCES: {
    schema: wholeNumber(1, 1000).default(1),
    help: 'gateways that share REDIS_URL; while it is away each allows its share of the limit',
  },
  INTROSPECTION: {
    schema: z.enum(['public', 'key', 'off']).default('key'),
    help: 'who may introspect the GraphQL schema: public, key or off (default key; public in demo)',
  },
  CORS_ORIGINS: {
    schema: list
      .pipe(
        z.array(
          z.string().refine((text) => text === '*' || isOrigin(text), 'must be an origin, https://host[:port], or *'),
        ),
      )
      .default([]),
    help: 'origins whose pages may call the API, comma-separated',
  },
  TRUST_PROXY: {
    schema: wholeNumber(0, 10).default(0),
    help: 'number of trusted proxies in front, for the caller’s address',
  },
  PUBLIC_URL: {
    schema: z
      .string()
      .refine(
        (text) => isOrigin(text) && /^https?:/.test(text),
        'must be an origin, https://host[:port], without a path',
      )
      .optional(),
    help: 'where browsers reach this gateway, https://host[:port]: for sign-in links, OpenID Connect and secure cookies',
  },
  OIDC_ISSUER: {
    schema: z.string().refine(isSecureOrLocal, 'must be an https address').optional(),
    help: 'issuer that users of the settings page sign in at; needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL',
  },
  OIDC_CLIENT_ID: { schema: z.string().min(1).optional(), help: 'id of this gateway at the issuer' },
  OIDC_CLIENT_SECRET: { schema: z.string().min(1).optional(), help: 'its secret there' },
  OIDC_SCOPES: {
    schema: z.string().min(1).default('openid profile email'),
    help: 'what is asked of the issuer, separated by spaces',
  },
  OIDC_ORGANISATION_CLAIM: {
    schema: z.string().min(1).default('scopegate_organisation'),
    help: "claim that holds the id of the user's organisation",
  },
  OIDC_ROLE_CLAIM: {
    schema: z.string().min(1).default('scopegate_role'),
    help: "claim that holds the user's role there, admin or member, alone or in a list",
  },
  MAX_CONNECTIONS: {
    schema: wholeNumber(1, 1_000_000).default(10_000),
    help: 'connections at once; one more is closed',
  },
  MAX_BODY_MEMORY: {
    schema: wholeNumber(16, 1_000_000).default(256),
    help: 'MiB that the bodies of all requests under way may take; past it 503. One key may take a quarter, one organisation half',
  },
  DRAIN_DELAY: {
    schema: wholeNumber(0, 20).default(0),
    help: 'seconds between the first 503 of /readyz and the closing of the port, for a load balancer to notice',
  },
  METRICS: {
    schema: z.enum(['loopback', 'private', 'public', 'off']).default('loopback'),
    help: 'who may read /metrics: loopback (this machine, not through a proxy), private (its private network too), public or off',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    help: 'least severe log line that is written to stderr',
  },
  DATA_DIR: { schema: z.string().min(1).default('.data'), help: 'where the embedded database keeps its data' },
  CACHE_DIR: { schema: z.string().min(1).default('.cache'), help: 'where a downloaded database server is kept' },
} as const satisfies Record<string, { schema: z.ZodType; help: string }>;

type Variables = typeof VARIABLES;
type VariableName = keyof Variables;
export type Config = { readonly [Name in VariableName]: z.infer<Variables[Name]['schema']> } & {
  readonly PATH: string;
};

/** What signing in by OpenID Connect needs besides the issuer. */
const WITH_OIDC = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'PUBLIC_URL'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Several faults of the environment at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The variables that are set; an empty one counts as not set. */
export function givenVariables(environment: Environment = process.env): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/**
 * Reads and checks the environment; an empty variable counts as not set.
 * @throws ConfigError naming every variable at fault.
 */
export function readConfig(environment: Environment = process.env): Config {
  const shape = Object.fromEntries(Object.entries(VARIABLES).map(([name, { schema }]) => [name, schema]));
  const result = z.object(shape).safeParse(givenVariables(environment));
  if (!result.success) {
    const faults = result.error.issues.map((issue) => `  ${String(issue.path[0])}: ${issue.message}`);
    throw new ConfigError(`the environment is not fit:\n${faults.join('\n')}`);
  }
  const config = result.data as Omit<Config, 'PATH'>;
  const missing = WITH_OIDC.filter((name) => config.OIDC_ISSUER !== undefined && config[name] === undefined);
  if (missing.length > 0) {
    const faults = missing.map((name) => `  ${name}: must be set where OIDC_ISSUER is`);
    throw new ConfigError(`the environment is not fit:\n${faults.join('\n')}`);
  }
  return { ...config, PATH: environment.PATH ?? '' };
}

/** One line per variable, for `serve --help`. */
export function describeVariables(): { name: string; help: string; fallback: string }[] {
  return Object.entries(VARIABLES).map(([name, { schema, help }]) => {
    const fallback = z.safeParse(schema, undefined);
    const value = fallback.success ? fallback.data : undefined;
    const isPlain = typeof value === 'number' || (typeof value === 'string' && value !== '');
    return { name, help, fallback: isPlain ? String(value) : '' };
  });
}
