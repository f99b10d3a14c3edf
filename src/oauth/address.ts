import type { IncomingMessage } from 'node:http';
import { type Config, isSecureOrLocal } from '../config';
import { localHost } from '../http/requestHead';
import { REST_BASE } from '../units';

/* Where the authorization server is, and for what (docs/decisions/oauth.md). */

export const OAUTH_PATH = '/oauth';
/** Where people are asked whether an app may connect, one of the pages of the settings. */
export const AUTHORIZE_PATH = '/settings/authorize';
/** Paths of the metadata of the authorization server (RFC 8414) and of what it protects (RFC 9728); the path of what they are about may follow. */
export const SERVER_METADATA = '/.well-known/oauth-authorization-server';
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

/** Paths that an app may name as the resource of its token, beside the address alone; each token works on all APIs. */
export const RESOURCES = ['/mcp', REST_BASE, '/graphql'] as const;

export type OAuthAddress = (request: IncomingMessage) => string | undefined;

/** Returns a function for the address of the gateway as a request's caller knows it, also the issuer; undefined with OAUTH=off, and unless it is https or this machine's. */
export function oauthAddress({ OAUTH, PUBLIC_URL }: Pick<Config, 'OAUTH' | 'PUBLIC_URL'>): OAuthAddress {
  if (OAUTH === 'off') return () => undefined;
  if (PUBLIC_URL !== undefined) {
    const address = isSecureOrLocal(PUBLIC_URL) ? PUBLIC_URL : undefined;
    return () => address;
  }
  return (request) => {
    const host = localHost(request);
    return host === undefined ? undefined : `http://${host}`;
  };
}

/** The address of metadata about a path below an address: the well-known path, then the address's own path, if any, then the path below it. */
export function metadataUrl(address: string, wellKnown: string, path = ''): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${wellKnown}${pathname.replace(/\/$/, '')}${path}`;
}

/** Whether a token for a resource (RFC 8707) is one of this gateway's. */
export function isOwnResource(address: string, resource: string): boolean {
  const named = resource.replace(/\/$/, '');
  return ['', ...RESOURCES].some((path) => named === address + path);
}
