import type { Organisation } from '../../src/auth/principal';
import { documentOf, userOperations } from '../support/operations';
import type { Json } from '../support/client';
import { makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { type Person, signIn } from '../settings/people';

/* Users who manage webhooks through the operations of the settings page. */

export const SECRET = 'a master secret of webhooks, for tests';

/** Allows receivers on this machine. */
export const ENVIRONMENT = { WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

export type Call = (operation: string, variables?: object) => Promise<Json>;

/** Calls an operation and resolves with its result, or its error's extensions. */
export function callsOf(person: Person): Call {
  return async (name, variables) => {
    const operation = userOperations.find((one) => one.name === name)!;
    const { body } = await person.graphql(documentOf(operation), variables);
    if (!body.errors) return body.data[name];
    const [{ message, extensions }] = body.errors;
    return { message, ...extensions };
  };
}

export interface Office {
  readonly gateway: TestGateway;
  readonly organisation: Organisation;
  readonly admin: Call;
  readonly member: Call;
}

export async function officeOf(gateway: TestGateway, organisation?: Organisation): Promise<Office> {
  const own = organisation ?? (await makeOrganisation(gateway));
  const admin = callsOf(await signIn(gateway, own, 'admin', 'Ada'));
  const member = callsOf(await signIn(gateway, own, 'member', 'Max'));
  return { gateway, organisation: own, admin, member };
}

export async function openOffice(environment: Record<string, string> = {}): Promise<Office> {
  return officeOf(await startGateway({ ...ENVIRONMENT, ...environment }));
}
