import * as z from 'zod';
import { nameFault } from '../auth/keys';
import { CLIENT_AUTHENTICATION } from '../organisations/appRows';
import type { NewClient, Registered } from '../organisations/appClients';
import type { OAuthFault } from './errors';
import { hostOf, redirectFault } from './redirectUris';

/* Dynamic registration of apps (RFC 7591). */

/** Maximum bytes of a request to register an app. */
export const REGISTRATION_LIMIT = 8 * 1024;

export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;

/** Registrations are stored for whoever asks, so they need limits; these are above what apps use. The name, in characters, is shown cut off on the consent page. */
const MAX_REDIRECTS = 10;
const LONGEST_NAME = 100;
const listOfText = z.array(z.string());

/** What makes a name look like another: characters that are not seen, and marks piled on one letter. */
const DECEPTIVE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]|\p{M}{3,}/u;

/** Why an app cannot have a name beside that of the site, as a clause; undefined if it can. */
function clientNameFault(name: string, brand: string): string | undefined {
  if (DECEPTIVE.test(name)) return 'must have no invisible characters, and at most two combining marks in a row';
  const plainName = comparable(name);
  const plainBrand = comparable(brand);
  // a short brand is part of many words, so only as a whole word does it pose as the site
  const isPosing =
    plainBrand.length < 4 ? plainName.split(/[^\p{L}\p{N}]+/u).includes(plainBrand) : plainName.includes(plainBrand);
  return isPosing ? `must not contain ${brand}` : nameFault(name);
}

const comparable = (text: string): string => text.normalize('NFKC').toLowerCase();

/** What is read of a registration; its other members are ignored, as the RFC requires. */
const metadata = z.object({
  redirect_uris: listOfText.min(1, 'must not be empty').max(MAX_REDIRECTS, `must be at most ${String(MAX_REDIRECTS)}`),
  client_name: z
    .string()
    .max(LONGEST_NAME, `must have at most ${String(LONGEST_NAME)} characters`)
    .optional(),
  token_endpoint_auth_method: z.enum(CLIENT_AUTHENTICATION).default('client_secret_basic'),
  grant_types: listOfText.optional(),
  response_types: listOfText.optional(),
});

const fault = (error: string, error_description: string): OAuthFault => ({ error, error_description });

/** The app that a body registers at the site of a brand, or what is wrong with it. */
export function readRegistration(body: unknown, brand: string): NewClient | OAuthFault {
  const read = metadata.safeParse(body);
  if (!read.success) {
    const [{ path, message } = { path: [], message: 'is invalid' }] = read.error.issues;
    const error = path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    return fault(error, `${path.join('.') || 'the body'}: ${message}`);
  }
  const { redirect_uris, client_name, token_endpoint_auth_method, grant_types, response_types } = read.data;
  for (const [at, address] of redirect_uris.entries()) {
    const why = redirectFault(address);
    if (why !== undefined) return fault('invalid_redirect_uri', `redirect_uris.${String(at)}: ${why}`);
  }
  if (grant_types && !grant_types.includes('authorization_code'))
    return fault('invalid_client_metadata', 'grant_types: must include authorization_code');
  if (response_types && !response_types.includes('code'))
    return fault('invalid_client_metadata', 'response_types: must include code');
  const chosenName = client_name?.trim() ?? '';
  const why = chosenName === '' ? undefined : clientNameFault(chosenName, brand);
  if (why !== undefined) return fault('invalid_client_metadata', `client_name: ${why}`);
  const name = chosenName === '' ? nameOfHost(hostOf(redirect_uris[0] ?? ''), brand) : chosenName;
  return { name, redirect_uris: [...new Set(redirect_uris)], authentication: token_endpoint_auth_method };
}

/** The name of an app that gives none: its host. One that cannot be a name need not be refused, since the consent page shows it beside the name. */
function nameOfHost(host: string, brand: string): string {
  return host.length > LONGEST_NAME || clientNameFault(host, brand) !== undefined ? 'Unnamed app' : host;
}

/** What an app is told of its registration. */
export function shownRegistration({ client, secret }: Registered) {
  return {
    client_id: client._id,
    ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
    client_id_issued_at: Math.floor(client.created_at.getTime() / 1000),
    client_name: client.name,
    redirect_uris: client.redirect_uris,
    token_endpoint_auth_method: client.authentication,
    grant_types: GRANT_TYPES,
    response_types: ['code'],
  };
}
