import { type RateLimiter, spend } from '../admission/rateLimit';
import { addressBucket } from '../auth/addresses';
import type { Config } from '../config';
import { AppError, invalidRequest, notFound } from '../errors';
import { checkBodyHeaders, readForm, readJson } from '../http/body';
import { JSON_TYPE, send } from '../http/answer';
import type { Exchange } from '../http/exchange';
import { soleAuthorization } from '../http/requestHead';
import type { Control } from '../organisations/control';
import { isOwnResource, OAUTH_PATH, type OAuthAddress, RESOURCE_METADATA, SERVER_METADATA } from './address';
import { resourceMetadata, serverMetadata } from './metadata';
import { hasRepeated } from './authorization';
import { readRegistration, REGISTRATION_LIMIT, shownRegistration } from './registration';
import { createTokenRequests } from './tokens';

export { OAUTH_ERRORS } from './errors';
export {
  AUTHORIZE_PATH,
  OAUTH_PATH,
  type OAuthAddress,
  oauthAddress,
  RESOURCE_METADATA,
  SERVER_METADATA,
} from './address';
export { challengeOf } from './metadata';

/* What apps call to connect (docs/decisions/oauth.md). People are asked in the settings. */

/** Maximum bytes of a request with a form. */
const FORM_LIMIT = 8 * 1024;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Registrations of an address in a minute: each costs such a part of its points. */
const REGISTRATIONS = 10;

interface OAuthOptions {
  readonly config: Pick<Config, 'BRAND_NAME' | 'PUBLIC_URL' | 'RATE_LIMIT_PER_MINUTE'>;
  readonly control: Pick<Control, 'apps'>;
  /** The database's time. */
  readonly now: () => number;
  readonly addressOf: OAuthAddress;
  /** Gives each address RATE_LIMIT_PER_MINUTE points a minute. */
  readonly limiter: RateLimiter;
  /** Admits a request that needs the database. @throws AppError unavailable */
  readonly admit: () => void;
}

/** Returns a function that answers the calls of apps, and requests for metadata. */
export function createOAuthApi({ config, control, now, addressOf, limiter, admit }: OAuthOptions) {
  const requestTokens = createTokenRequests(control, now);
  const registrationCost = Math.ceil(config.RATE_LIMIT_PER_MINUTE / REGISTRATIONS);

  const reply = (exchange: Exchange, status: number, body: object): void => {
    send(exchange, status, JSON_TYPE, JSON.stringify(body));
  };

  async function register(exchange: Exchange): Promise<void> {
    const id = `register ${addressBucket(exchange.address)}`;
    await spend(limiter, id, registrationCost, 'Too many registrations from this address');
    checkBodyHeaders(exchange.request, REGISTRATION_LIMIT);
    const read = readRegistration(await readJson(exchange, REGISTRATION_LIMIT), config.BRAND_NAME);
    if ('error' in read) {
      refuse(exchange, 400, read);
      return;
    }
    admit();
    reply(exchange, 201, shownRegistration(await control.apps.clients.register(read, exchange.address)));
  }

  /** The form of a request, without repeated names, and without `resource`, whose values must be of this gateway; undefined if the request was refused. */
  async function formOf(exchange: Exchange, address: string): Promise<Readonly<Record<string, string>> | undefined> {
    const { request } = exchange;
    await spend(
      limiter,
      `oauth ${addressBucket(exchange.address)}`,
      1,
      'Too many requests for tokens from this address',
    );
    if (request.headers.authorization !== undefined && soleAuthorization(request) === undefined)
      throw new AppError('invalid_request', 'Authorization: must be sent once.');
    checkBodyHeaders(request, FORM_LIMIT, FORM_TYPE);
    const form = await readForm(exchange, FORM_LIMIT);
    const resources = form.getAll('resource');
    form.delete('resource');
    // the scopes are those that an admin allowed, whatever is asked for with a refresh token
    form.delete('scope');
    if (hasRepeated(form))
      throw invalidRequest([{ pointer: '', code: 'duplicate', detail: 'must have each parameter once' }]);
    if (resources.every((resource) => isOwnResource(address, resource))) return Object.fromEntries(form);
    refuse(exchange, 400, {
      error: 'invalid_target',
      error_description: `resource must be ${address}, or one of its APIs`,
    });
    return undefined;
  }

  /** Answers with an error of OAuth. */
  function refuse(exchange: Exchange, status: number, body: object): void {
    // the log has the gateway's codes, not OAuth's
    exchange.log.code = status === 401 ? 'unauthenticated' : 'invalid_request';
    // the library tells neither us nor the caller whether the client is unknown or its secret wrong
    if (status === 401) exchange.log.refusal = { reason: 'unknown' };
    reply(exchange, status, body);
  }

  async function token(exchange: Exchange, address: string): Promise<void> {
    const form = await formOf(exchange, address);
    if (!form) return;
    admit();
    const { isIssued, status, headers, body } = await requestTokens(exchange, form);
    for (const [name, value] of Object.entries(headers)) exchange.response.setHeader(name, value);
    if (isIssued) reply(exchange, status, body);
    else refuse(exchange, status, body);
  }

  /** Ends the key of a token (RFC 7009). A wrong token is no error, so that nothing is said about it. */
  async function revoke(exchange: Exchange, address: string): Promise<void> {
    const form = await formOf(exchange, address);
    if (!form) return;
    const { token: text = '', ...rest } = form;
    if (text === '') {
      refuse(exchange, 400, { error: 'invalid_request', error_description: 'Missing parameter: `token`' });
      return;
    }
    admit();
    const client = await control.apps.clients.authenticate(...credentialsOf(exchange, rest));
    if (!client) {
      exchange.response.setHeader('WWW-Authenticate', 'Basic realm="Service"');
      refuse(exchange, 401, { error: 'invalid_client', error_description: 'the client is unknown' });
      return;
    }
    await control.apps.revoke(text, client._id, exchange.address);
    reply(exchange, 200, {});
  }

  const calls: Readonly<Record<string, (exchange: Exchange, address: string) => Promise<void>>> = {
    [`${OAUTH_PATH}/register`]: register,
    [`${OAUTH_PATH}/token`]: token,
    [`${OAUTH_PATH}/revoke`]: revoke,
  };

  return async (exchange: Exchange): Promise<void> => {
    const address = addressOf(exchange.request);
    const { path, request } = exchange;
    if (address === undefined) throw notFound('page');
    const call = calls[path];
    if (call) {
      if (request.method !== 'POST')
        throw new AppError('method_not_allowed', 'Only POST is allowed.', { allow: ['POST'] });
      await call(exchange, address);
      return;
    }
    const metadata = metadataAt(path, address, config.BRAND_NAME);
    if (!metadata) throw notFound('page');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw new AppError('method_not_allowed', 'Only GET is allowed.', { allow: ['GET', 'HEAD'] });
    reply(exchange, 200, metadata);
  };
}

/** The metadata at a path, which ends with the path of what it is about: first that of the gateway's address, if it has one. */
function metadataAt(path: string, address: string, name: string): object | undefined {
  const base = new URL(address).pathname.replace(/\/$/, '');
  if (path === SERVER_METADATA || path === SERVER_METADATA + base) return serverMetadata(address);
  if (!path.startsWith(RESOURCE_METADATA)) return undefined;
  const of = path.slice(RESOURCE_METADATA.length);
  return resourceMetadata(address, base !== '' && of.startsWith(base) ? of.slice(base.length) : of, name);
}

/** Id and secret of a client, from a header or a form (RFC 6749, section 2.3.1). */
function credentialsOf({ request }: Exchange, form: Readonly<Record<string, string>>): [string, string | undefined] {
  const basic = /^Basic ([\w+/=-]+)$/i.exec(soleAuthorization(request) ?? '')?.[1];
  if (basic === undefined) return [form.client_id ?? '', form.client_secret];
  const [id = '', secret] = Buffer.from(basic, 'base64').toString().split(':');
  return [id, secret];
}
