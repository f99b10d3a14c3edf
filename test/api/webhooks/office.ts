import type { Organisation } from '../../../src/auth/principal';
import { makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';
import { type Person, signIn } from '../../admin/settings/people';

/* Users who manage webhooks through the operations of the settings page. */

export const SECRET = 'a master secret of webhooks, for tests';

/** Allows receivers on this machine. */
export const ENVIRONMENT = { WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

export type Call = Person['call'];

export interface Office {
  readonly gateway: TestGateway;
  readonly organisation: Organisation;
  readonly admin: Call;
  readonly member: Call;
}

export async function officeOf(gateway: TestGateway, organisation?: Organisation): Promise<Office> {
  const own = organisation ?? (await makeOrganisation(gateway));
  const { call: admin } = await signIn(gateway, own, 'admin', 'Ada');
  const { call: member } = await signIn(gateway, own, 'member', 'Max');
  return { gateway, organisation: own, admin, member };
}

export async function openOffice(environment: Record<string, string> = {}): Promise<Office> {
  return officeOf(await startGateway({ ...ENVIRONMENT, ...environment }));
}
