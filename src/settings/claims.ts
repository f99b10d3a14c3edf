import { digestOf } from '../auth/digest';
import { nameFault } from '../auth/keys';
import { isRole, type Role } from '../auth/roles';
import type { Config } from '../config';
import { AppError } from '../errors';
import type { NewSession } from '../organisations/sessions';
import { UUID } from '../units';

/* What the claims of an identity provider say about a user. */

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };
type ClaimNames = Pick<Config, 'OIDC_ORGANISATION_CLAIM' | 'OIDC_ROLE_CLAIM'>;

/** The maximum length of the issuer's id of a user (OpenID Connect Core, section 2). */
const MAX_SUBJECT = 255;
/** Code points of a name, as in sign-in links of the command line; a longer one is cut off. */
const MAX_NAME = 200;

/** The session that claims allow. @throws AppError forbidden if a required claim is missing or invalid */
export function sessionOf(claims: Claims, config: ClaimNames): NewSession {
  const organisationId = claims[config.OIDC_ORGANISATION_CLAIM];
  const role = strongestRole(claims[config.OIDC_ROLE_CLAIM]);
  if (typeof organisationId !== 'string' || !UUID.test(organisationId)) {
    throw notAllowed(config.OIDC_ORGANISATION_CLAIM, "the id of the user's organisation");
  }
  if (role === undefined) throw notAllowed(config.OIDC_ROLE_CLAIM, 'admin or member');
  const user = { id: `oidc:${idOf(claims.sub)}`, name: nameOf(claims) };
  return { organisationId: organisationId.toLowerCase(), role, user };
}

/** The issuer's id of the user, or its hash if it could not be shown in the audit log. */
function idOf(sub: string): string {
  return sub.length <= MAX_SUBJECT && nameFault(sub) === undefined ? sub : digestOf(sub);
}

/** The first of the claims that can be shown as a name: often users choose it themselves, and others read it in the audit log. */
function nameOf({ name, preferred_username, email, sub }: Claims): string {
  const names = [name, preferred_username, email, sub].flatMap((text) => asName(text) ?? []);
  return names[0] ?? 'unnamed user';
}

/** A claim as a name; undefined if it cannot be one. */
function asName(claim: unknown): string | undefined {
  if (typeof claim !== 'string') return undefined;
  // cut off before nameFault, whose patterns take long for long texts, and between code points, not within one
  const line = Array.from(claim.slice(0, 2 * MAX_NAME).trim())
    .slice(0, MAX_NAME)
    .join('')
    .toWellFormed();
  return nameFault(line) === undefined ? line : undefined;
}

/** The strongest of the roles in a claim, which has one or a list; undefined if there is none. */
function strongestRole(claim: unknown): Role | undefined {
  const named = (Array.isArray(claim) ? (claim as unknown[]) : [claim]).filter(isRole);
  return named.includes('admin') ? 'admin' : named[0];
}

function notAllowed(claim: string, meaning: string): AppError {
  const detail = `The identity provider signed you in, but its claim ${claim} is not ${meaning}. Ask its administrator.`;
  return new AppError('forbidden', detail);
}
