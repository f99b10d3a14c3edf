import * as z from 'zod';
import { type VariableError, fileVariable, readSecretFiles } from './secretFiles';
import { SECRETS, VARIABLES } from './variables';

export { isSecureOrLocal } from './checks';

/* The only place that reads process.env, beside sdl/folder.ts, which needs SCHEMA_DIR before the configuration can be read. */

type Variables = typeof VARIABLES;

export type Config = { readonly [Name in keyof Variables]: z.infer<Variables[Name]['schema']> };

/** Variables that OpenID Connect requires in addition to the issuer. */
const WITH_OIDC = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'PUBLIC_URL'] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** The errors in the environment: the name of a variable and what is wrong with it. Those of single variables are reported first, then those of combinations. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(errors: readonly VariableError[]) {
    super(`invalid environment:\n${errors.map(([name, error]) => `  ${name}: ${error}`).join('\n')}`);
  }
}

/** The variables that are set; an empty one counts as not set. */
export function nonEmptyVariables(environment: Environment = process.env): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Whether npm, npx or another package manager started this process, in a shell. */
export function isStartedByNpm(environment: Environment = process.env): boolean {
  return environment.npm_lifecycle_event !== undefined;
}

/** The variable that a secret is read from: its own, or the one that names its file. */
export function sourceOf(name: (typeof SECRETS)[number], environment: Environment = process.env): string {
  return nonEmptyVariables(environment)[fileVariable(name)] === undefined ? name : fileVariable(name);
}

/**
 * Reads and checks the environment; an empty variable counts as not set.
 * @throws ConfigError that lists every invalid variable.
 */
export function readConfig(environment: Environment = process.env): Config {
  const shape = Object.fromEntries(Object.entries(VARIABLES).map(([name, { schema }]) => [name, schema]));
  const variables = nonEmptyVariables(environment);
  const files = readSecretFiles(SECRETS, variables);
  const result = z.object(shape).safeParse({ ...variables, ...files.values });
  const errors = [
    ...files.errors,
    ...retiredVariables(variables),
    ...(result.success ? [] : result.error.issues.map(toError)),
  ];
  if (!result.success || errors.length > 0) throw new ConfigError(errors);
  const config = result.data as Config;
  const contradictions = contradictionsOf(config);
  if (contradictions.length > 0) throw new ConfigError(contradictions.map(([name, error]) => [setAs(name), error]));
  return config;

  function toError(issue: z.core.$ZodIssue): VariableError {
    const message = issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : issue.message;
    return [setAs(String(issue.path[0])), message];
  }

  /** The variable that gave a value. */
  function setAs(variable: string): string {
    return variable in files.values ? fileVariable(variable) : variable;
  }
}

/** Errors for variables that the version before had: ignored, they would make the gateway serve other data. */
function retiredVariables(environment: Environment): VariableError[] {
  return ['MONGODB_CLUSTERS', 'MONGODB_CLUSTERS_FILE']
    .filter((name) => environment[name] !== undefined)
    .map((name) => [
      name,
      'is gone, since there is one database: bring organisations of other clusters over by export and import with their ids (docs/guides/sharding.md, From MONGODB_CLUSTERS), then unset it',
    ]);
}

/** Errors in combinations of variables that are each valid on their own. */
function contradictionsOf(config: Config): VariableError[] {
  const { OIDC_ISSUER, KEY_PEPPER, KEY_PEPPER_PREVIOUS, ADMIN_PORT, PORT } = config;
  const missing = WITH_OIDC.filter((name) => OIDC_ISSUER !== undefined && config[name] === undefined);
  const errors = missing.map((name): VariableError => [name, 'must be set if OIDC_ISSUER is']);
  if (KEY_PEPPER_PREVIOUS !== undefined && KEY_PEPPER === '')
    errors.push(['KEY_PEPPER', 'must be set if KEY_PEPPER_PREVIOUS is: it is the pepper that replaces it']);
  else if (KEY_PEPPER_PREVIOUS === KEY_PEPPER)
    errors.push(['KEY_PEPPER_PREVIOUS', 'is the same as KEY_PEPPER; set it to the previous pepper, or unset it']);
  const { KEY_PREFIX: live, KEY_PREFIX_TEST: test, KEY_PREFIX_APP: app } = config;
  if (live.startsWith(test) || test.startsWith(live))
    errors.push(['KEY_PREFIX_TEST', 'must not begin with KEY_PREFIX, and KEY_PREFIX must not begin with it']);
  if ([live, test].some((prefix) => prefix.startsWith(app) || app.startsWith(prefix)))
    errors.push(['KEY_PREFIX_APP', 'must not begin with KEY_PREFIX or KEY_PREFIX_TEST, and neither with it']);
  const { WEBHOOK_SECRET, WEBHOOK_SECRET_PREVIOUS } = config;
  if (WEBHOOK_SECRET_PREVIOUS !== undefined && WEBHOOK_SECRET === undefined)
    errors.push(['WEBHOOK_SECRET', 'must be set if WEBHOOK_SECRET_PREVIOUS is: it is the secret that replaces it']);
  else if (WEBHOOK_SECRET_PREVIOUS !== undefined && WEBHOOK_SECRET_PREVIOUS === WEBHOOK_SECRET)
    errors.push(['WEBHOOK_SECRET_PREVIOUS', 'is the same as WEBHOOK_SECRET; set it to the previous one, or unset it']);
  const { OPERATOR_WEBHOOK_URL: url, OPERATOR_WEBHOOK_SECRET: secret } = config;
  if (url !== undefined && secret === undefined)
    errors.push(['OPERATOR_WEBHOOK_SECRET', 'must be set if OPERATOR_WEBHOOK_URL is']);
  if (config.FRAME_ANCESTORS.length > 0 && config.PUBLIC_URL?.startsWith('https:') !== true)
    errors.push([
      'PUBLIC_URL',
      'must be an https URL if FRAME_ANCESTORS is set: browsers send no other cookies into frames',
    ]);
  // also with another ADMIN_HOST, since one of the two may be all addresses
  if (ADMIN_PORT === PORT && PORT !== 0) errors.push(['ADMIN_PORT', 'must differ from PORT']);
  return errors;
}

/** The variables, with those that name a secret's file, for `--help`. `fallback` is the default as text; empty if there is none to show. */
export function describeVariables(): { name: string; help: string; fallback: string }[] {
  return Object.entries(VARIABLES).flatMap(([name, { schema, help }]) => {
    const fallback = z.safeParse(schema, undefined);
    const value = fallback.success ? fallback.data : undefined;
    const isPlain = typeof value === 'number' || (typeof value === 'string' && value !== '');
    const described = { name, help, fallback: isPlain ? String(value) : '' };
    if (!(SECRETS as readonly string[]).includes(name)) return described;
    return [described, { name: fileVariable(name), help: `file with ${name}, instead of the variable`, fallback: '' }];
  });
}

/** The URL at which a browser on this machine can open a gateway: 0.0.0.0 and :: mean all addresses of the machine. */
export function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** The path of PUBLIC_URL, which the proxy in front removes: empty, or /… without a slash at the end. */
export function publicPath({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  return PUBLIC_URL === undefined ? '' : new URL(PUBLIC_URL).pathname.replace(/\/$/, '');
}

/** The URL at which people open the gateway of this configuration. */
export function gatewayUrl({ PUBLIC_URL, HOST, PORT }: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>): string {
  return PUBLIC_URL ?? reachable(`http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${String(PORT)}`);
}
