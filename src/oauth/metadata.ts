import { CLIENT_AUTHENTICATION } from '../organisations/appRows';
import { published } from '../schema/model';
import { AUTHORIZE_PATH, metadataUrl, OAUTH_PATH, RESOURCE_METADATA, RESOURCES } from './address';
import { GRANT_TYPES } from './registration';

/** Metadata of the authorization server (RFC 8414). `address` is its issuer, without a slash at its end. */
export function serverMetadata(address: string) {
  return {
    issuer: address,
    authorization_endpoint: address + AUTHORIZE_PATH,
    token_endpoint: `${address}${OAUTH_PATH}/token`,
    registration_endpoint: `${address}${OAUTH_PATH}/register`,
    revocation_endpoint: `${address}${OAUTH_PATH}/revoke`,
    scopes_supported: published.usedScopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES,
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${address}/guides/assistants`,
  };
}

/**
 * Metadata of the gateway, or of the API at a path (RFC 9728), under the name of the site; undefined if there is no such API. Apps ask for the scopes
 * that it names, so these are only those that read: an admin can add others.
 */
export function resourceMetadata(address: string, path: string, name: string) {
  if (!['', ...RESOURCES].includes(path)) return undefined;
  return {
    resource: address + path,
    authorization_servers: [address],
    scopes_supported: published.readScopes,
    bearer_methods_supported: ['header'],
    resource_name: name,
    resource_documentation: `${address}/guides/assistants`,
  };
}

/**
 * The challenge (WWW-Authenticate) of a 401 that leads an app to the authorization server (RFC 9728, section 5.1). For MCP it names that API's
 * metadata, whose `resource` must be the one URL that the client called (section 3.3); REST has many URLs, so there it names the gateway's.
 */
export function challengeOf(address: string, isMcp: boolean): string {
  return `Bearer resource_metadata="${metadataUrl(address, RESOURCE_METADATA, isMcp ? '/mcp' : '')}"`;
}
