import * as z from 'zod';
import { DEFAULT_APP_KEY_PREFIX, DEFAULT_KEY_PREFIX, DEFAULT_TEST_KEY_PREFIX } from '../auth/keys';
import { MAX_POINTS } from '../auth/plans';
import { readColour, readLogo } from './brand';
import {
  nonEmpty,
  matching,
  oneLine,
  keyPrefix,
  list,
  wholeNumber,
  isRedisAddress,
  isOrigin,
  isPublicUrl,
  isSecureOrLocal,
  isAllowedOrigin,
  isWebhookUrl,
  isContactUrl,
  isCollectorUrl,
} from './checks';
import { MIN_SECRET, readHeaders, readRanges, readTokens, readWebhookSecrets } from './lists';
import { LEAST_STORAGE, MOST_KEYS, MOST_STORAGE, readPlansFile } from './plansFile';

/* Every variable of the environment, in the order of `--help`: how it is checked and converted, its default, and a line for `--help`. */

export const VARIABLES = {
  PORT: { schema: wholeNumber(0, 65535).default(4000), help: 'port to listen on; 0 picks a free one' },
  HOST: { schema: nonEmpty.default('127.0.0.1'), help: 'address to listen on' },
  MONGODB_URI: {
    schema: matching(/^mongodb(\+srv)?:\/\//, 'must begin with mongodb:// or mongodb+srv://').optional(),
    help: 'URI of a MongoDB replica set; if unset, an embedded database is used',
  },
  SHARD_FILES: {
    schema: wholeNumber(1, 999_999_999).default(60_000),
    help: 'files (collections and indexes) that the replica set, or each shard, may have, on Atlas the number of its tier (docs/guides/sharding.md); doctor warns from 85 % on',
  },
  MONGOD_BINARY: {
    schema: nonEmpty.optional(),
    help: 'mongod (or secantusd-rs) binary to start if MONGODB_URI is not set',
  },
  NODE_ENV: {
    schema: nonEmpty.optional(),
    help: 'production (as in the image) makes serve require MONGODB_URI and KEY_PEPPER',
  },
  ALLOW_OLD_MONGODB: {
    schema: z
      .enum(['true', 'false'])
      .default('false')
      .transform((text) => text === 'true'),
    help: 'true accepts a MongoDB older than 6.0; some operations will fail',
  },
  STORED_VALIDATION: {
    schema: z.enum(['error', 'warn', 'off']).default('error'),
    help: 'what MongoDB does with rows of other programs that could not be shown: error refuses them; warn stores them and writes each to its log, with all that it contains; off does not check. For new collections; doctor --fix applies it to the others',
  },
  CONTROL_DATABASE: {
    // a name has at most 63 bytes, and the heartbeats of shards append 22 to this one (mongo/shardHealth.ts)
    schema: matching(/^[a-zA-Z0-9_-]{1,38}$/, 'must be 1 to 38 letters, digits, _ and -').default('scopegate'),
    help: 'name of the database for organisations and keys',
  },
  KEY_PEPPER: {
    schema: z.string().default(''),
    help: 'secret mixed into every key hash; serve refuses a pepper other than the one existing keys use',
  },
  KEY_PEPPER_PREVIOUS: {
    schema: nonEmpty.optional(),
    help: 'the old pepper while KEY_PEPPER replaces it: keys hashed with it still work, and are rehashed when used',
  },
  KEY_PREFIX: {
    schema: keyPrefix.default(DEFAULT_KEY_PREFIX),
    help: 'prefix of new keys; those with a former one still work',
  },
  KEY_PREFIX_TEST: {
    schema: keyPrefix.default(DEFAULT_TEST_KEY_PREFIX),
    help: 'prefix of new sandbox keys, in the same way',
  },
  KEY_PREFIX_APP: {
    schema: keyPrefix.default(DEFAULT_APP_KEY_PREFIX),
    help: 'prefix of the tokens of connected apps; when it changes, these must connect again',
  },
  OAUTH: {
    schema: z.enum(['on', 'off']).default('on'),
    help: 'off closes OAuth: no app can connect, and those that are connected have no access after an hour; on works with a PUBLIC_URL of https, or on this machine',
  },
  RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(1, MAX_POINTS).default(600),
    help: 'points per minute for each key; also the limit per address for failed authentication and public introspection',
  },
  RATE_LIMIT_ORGANISATION: {
    schema: wholeNumber(1, MAX_POINTS).optional(),
    help: 'points per minute for all keys of an organisation together; if unset, ten times those of a key: RATE_LIMIT_PER_MINUTE, or points_per_minute of its plan in PLANS_FILE',
  },
  MAX_KEYS: {
    schema: wholeNumber(1, MOST_KEYS).default(100),
    help: 'maximum active keys of an organisation; keys that are imported or replace others may exceed it',
  },
  PLANS_FILE: {
    schema: nonEmpty.transform(readPlansFile).optional(),
    help: 'JSON file with the plans of organisations, and their limits in place of RATE_LIMIT_PER_MINUTE, RATE_LIMIT_ORGANISATION, MAX_KEYS, MAX_ORGANISATION_BYTES and of 20 webhook endpoints (docs/guides/operators.md, Plans); for gateways and every command. If unset, starter, integrations and enterprise',
  },
  REDIS_URL: {
    schema: matching(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
      .refine(
        isRedisAddress,
        'must be redis://[user:password@]host[:port][/database]; user name and password must be percent-encoded (/ is %2F, ? is %3F, # is %23, % is %25)',
      )
      .optional(),
    help: 'Redis or Valkey for rate limits shared by several gateways; in memory if unset',
  },
  INSTANCES: {
    schema: wholeNumber(1, 1000).default(1),
    help: 'number of gateways: while Redis is down, each allows its share of the limits; serve and doctor warn if there are several without REDIS_URL',
  },
  INTROSPECTION: {
    schema: z.enum(['public', 'key', 'off']).default('key'),
    help: 'who may introspect the GraphQL schema: public, key or off (default key; public in demo)',
  },
  CORS_ORIGINS: {
    schema: list
      .pipe(
        z.array(
          z.string().refine(isAllowedOrigin, 'must be an origin, https://host[:port] or chrome-extension://id, or *'),
        ),
      )
      .default([]),
    help: 'origins allowed to call the API from a browser, comma-separated',
  },
  TRUST_PROXY: {
    schema: wholeNumber(0, 10).default(0),
    help: "number of trusted proxies in front, to find the caller's address",
  },
  PUBLIC_URL: {
    schema: z
      .string()
      .refine(
        isPublicUrl,
        'must be https://host[:port] (http:// for development), or that with a path, without a slash at the end',
      )
      .optional(),
    help: 'public URL of this gateway, https://host[:port], with the path that a proxy in front removes, if any; for sign-in links, links to pages, the OpenAPI document, OpenID Connect and secure cookies',
  },
  BRAND_NAME: {
    schema: oneLine(40).default('Scopegate'),
    help: 'name of the pages, the OpenAPI documents and the MCP server',
  },
  BRAND_DESCRIPTION: {
    // other sentences follow it
    schema: oneLine(300)
      .transform((text) => (/[.!?…。！？]$/.test(text) ? text : `${text}.`))
      .optional(),
    help: 'what the API is for, in a sentence of at most 300 characters: on the landing page, in /llms.txt, the OpenAPI document, the REST reference and the instructions of MCP',
  },
  BRAND_LOGO: {
    schema: z.string().transform(readLogo).optional(),
    help: 'file with a square logo for the pages, SVG or PNG, at most 64 KiB',
  },
  BRAND_COLOUR: {
    schema: matching(/^#[0-9a-f]{6}$/i, 'must be #rrggbb')
      .transform(readColour)
      .optional(),
    help: 'accent of the pages, #rrggbb, dark enough for text on white; dark pages have it lighter',
  },
  BRAND_HOME: {
    schema: z.string().refine(isSecureOrLocal, 'must be an https URL').optional(),
    help: 'where the name on the pages leads, https://…; the landing page if unset',
  },
  FRAME_ANCESTORS: {
    schema: list.refine((origins) => origins.every(isOrigin), 'must be origins, scheme://host[:port]').default([]),
    help: 'origins whose pages may show the settings in a frame, comma-separated; needs PUBLIC_URL with https',
  },
  CONTACT_URL: {
    schema: z.string().refine(isContactUrl, 'must be an https URL, or mailto: and an email address').optional(),
    help: 'where people ask for access, https://… or mailto:…: a link on the sign-in page of the settings',
  },
  OIDC_ISSUER: {
    schema: z.string().refine(isSecureOrLocal, 'must be an https URL').optional(),
    help: 'OpenID Connect issuer for the settings page; needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and PUBLIC_URL',
  },
  OIDC_CLIENT_ID: { schema: nonEmpty.optional(), help: 'client id at the issuer' },
  OIDC_CLIENT_SECRET: { schema: nonEmpty.optional(), help: 'client secret at the issuer' },
  OIDC_SCOPES: {
    schema: nonEmpty.default('openid profile email'),
    help: 'scopes to request from the issuer, separated by spaces',
  },
  OIDC_ORGANISATION_CLAIM: {
    schema: nonEmpty.default('scopegate_organisation'),
    help: "claim with the id of the user's organisation",
  },
  OIDC_ROLE_CLAIM: {
    schema: nonEmpty.default('scopegate_role'),
    help: "claim with the user's role: admin or member, or a list that includes one",
  },
  MAX_CONNECTIONS: {
    schema: wholeNumber(1, 1_000_000).default(10_000),
    help: 'maximum open connections; from four fifths on, each new one closes the longest-idle one; one address may have half (at least 100) unless TRUST_PROXY is set',
  },
  KEEP_ALIVE_TIMEOUT: {
    schema: wholeNumber(1, 3600).default(65),
    help: 'seconds that an idle connection is kept; must be above the idle timeout of the load balancer in front, e.g. 620 for that of Google Cloud',
  },
  MAX_BODY_MEMORY: {
    schema: wholeNumber(16, 1_000_000).default(256),
    help: 'MiB for the bodies of all requests in progress, the rows they read, and responses not read yet; beyond it requests get 503; one key may use a quarter, one organisation half',
  },
  MAX_ORGANISATION_BYTES: {
    schema: wholeNumber(LEAST_STORAGE, MOST_STORAGE).optional(),
    help: 'bytes (documents and indexes) that one organisation may store, beyond which its writes get 422 quota_exceeded; if unset there is no limit',
  },
  DRAIN_DELAY: {
    // a drain lasts 24 s in all (gateway/ports.ts), so requests have 4 s left
    schema: wholeNumber(0, 20).default(0),
    help: 'seconds between /readyz returning 503 and closing the port, for load balancers to notice',
  },
  EVENTS: {
    schema: z.enum(['on', 'off']).default('on'),
    help: 'off keeps this gateway from recording events from the log of the database; one gateway at a time does so, and all serve them',
  },
  WEBHOOK_SECRET: {
    schema: z
      .string()
      .min(MIN_SECRET, `must have at least ${String(MIN_SECRET)} characters; openssl rand -hex 32 makes one`)
      .optional(),
    help: 'master secret that the secrets of webhook endpoints are derived from; without it there are no webhooks, except with the embedded database',
  },
  WEBHOOK_SECRET_PREVIOUS: {
    schema: z
      .string()
      .min(MIN_SECRET, `must have at least ${String(MIN_SECRET)} characters`)
      .optional(),
    help: 'the old WEBHOOK_SECRET while the new one replaces it: endpoints whose secret was not rotated since are signed with it',
  },
  WEBHOOK_ALLOWED_RANGES: {
    schema: list.transform(readRanges).optional(),
    help: 'CIDR ranges, comma-separated, that webhooks may be sent to although they are not public, and also over http (default none; loopback with the embedded database)',
  },
  REQUEST_LOG: {
    schema: z.enum(['on', 'off']).default('on'),
    help: 'off keeps this gateway from storing requests (time, operation, status, address) for the organisations that made them',
  },
  INSIGHTS: {
    schema: z.enum(['off', 'admins', 'members']).default('members'),
    help: "who of an organisation's signed-in users sees figures from its quotes and orders on the settings page Insights: members (all), admins or nobody (off)",
  },
  METRICS: {
    schema: z.enum(['loopback', 'private', 'public', 'off']).default('loopback'),
    help: 'who may read /metrics: loopback (this machine, not through a proxy), private (private networks too), public or off',
  },
  ADMIN_PORT: {
    schema: wholeNumber(0, 65535).optional(),
    help: 'port for /metrics and the health checks, which anyone who can connect may read, and for the operator API; PORT then has neither /metrics nor the operator API',
  },
  ADMIN_HOST: { schema: nonEmpty.optional(), help: 'address for ADMIN_PORT to listen on; if unset, HOST' },
  OPERATOR_TOKENS: {
    schema: z.string().transform(readTokens).default([]),
    help: 'tokens for the operator API as name=secret, separated by whitespace, commas or ;, each secret at least 32 characters; without them there is no operator API',
  },
  OPERATOR_ALLOW: {
    schema: list
      // an empty one, as of a comma alone, would allow every address
      .refine((ranges) => ranges.length > 0, 'has no item; unset it to allow all')
      .transform(readRanges)
      .default([]),
    help: 'CIDR ranges, comma-separated, that the operator API may be called from; from anywhere if unset',
  },
  OPERATOR_WEBHOOK_URL: {
    schema: z.string().refine(isWebhookUrl, 'must be an http or https URL without user name and password').optional(),
    help: 'URL that the events of all organisations are posted to, which may be internal; needs OPERATOR_WEBHOOK_SECRET',
  },
  OPERATOR_WEBHOOK_SECRET: {
    schema: z.string().transform(readWebhookSecrets).optional(),
    help: 'secret that they are signed with: whsec_ and 24 to 64 bytes in base64; a second one, after a space, while one replaces the other',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: z
      .string()
      .refine(isCollectorUrl, 'must be an http or https URL, without /v1/traces and without ? and #')
      .optional(),
    help: 'URL of an OpenTelemetry collector (OTLP over HTTP) to send traces to; without it nothing is traced',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: z.string().transform(readHeaders).default({}),
    help: 'headers for that collector, as name=value, comma-separated and percent-encoded',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    help: 'minimum level of the log on stderr; SIGUSR2 switches to debug and back',
  },
  DATA_DIR: { schema: nonEmpty.default('.data'), help: 'directory for the data of the embedded database' },
  SCHEMA_DIR: {
    schema: nonEmpty.optional(),
    help: 'folder with extensions of the schema (docs/guides/schema.md), for gateways and every command; once a database is served with one, those without are refused, unless this is none',
  },
  CACHE_DIR: { schema: nonEmpty.default('.cache'), help: 'directory for a downloaded database server' },
} as const satisfies Record<string, { schema: z.ZodType; help: string }>;

/** Variables that can hold a secret, each of which can be read from the file named by the variable with _FILE appended. */
export const SECRETS = [
  'MONGODB_URI',
  'KEY_PEPPER',
  'KEY_PEPPER_PREVIOUS',
  'REDIS_URL',
  'OIDC_CLIENT_SECRET',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'WEBHOOK_SECRET',
  'WEBHOOK_SECRET_PREVIOUS',
  'OPERATOR_TOKENS',
  'OPERATOR_WEBHOOK_SECRET',
] as const satisfies readonly (keyof typeof VARIABLES)[];
