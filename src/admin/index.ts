import type { Control } from '../organisations/control';
import type { AdminCaller } from './caller';
import { createKeyOperations } from './keys';
import { createPeopleOperations, type PeopleOptions } from './people';
import { createReportOperations } from './reports';
import { createWebhookOperations, type WebhookOptions } from './webhooks';

export interface AdminOptions extends Omit<WebhookOptions & PeopleOptions, 'control'> {
  readonly control: Control;
}

/** The operations in one organisation, for one caller. */
export type Admin = ReturnType<AdminOf>;
export type AdminOf = ReturnType<typeof createAdmin>;

/** What people and operators do in an organisation, named as in schema/admin.graphql (docs/decisions/admin.md). Called once for a gateway. */
export function createAdmin(options: AdminOptions) {
  const { control } = options;
  // here, since all callers share its limit on posts by hand
  const webhooksOf = createWebhookOperations(options);
  return (caller: AdminCaller) => {
    const context = { ...caller, once: control.creations.onceFor(caller.actor.who, caller.attempt) };
    return {
      ...createKeyOperations(context, options),
      ...createReportOperations(context, control),
      ...createPeopleOperations(context, options),
      ...webhooksOf(context),
    };
  };
}
