import { statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { nameFault } from '../../auth/keys';
import { PLAN_NAME } from '../../auth/plans';
import { readText } from '../../config/smallFile';
import type { OrganisationForOperators } from '../../organisations/organisationRows';
import { recordKinds } from '../../resources';
import { isCurrency } from '../../schema/currency';
import type { OrganisationData } from '../../tenant/organisationData';
import { UUID } from '../../units';
import { CommandFailure, notFound } from '../ending';
import { jsonOf } from '../ndjson';
import { ORGANISATION_FILE } from '../records';
import type { Store } from '../store';
import { note } from '../terminal';

/* organisation.json of an export. Those of earlier versions have only name, plan and currency. */

const organisationFile = z.strictObject({
  id: z.string().regex(UUID, 'must be a UUID').toLowerCase().optional(),
  name: z
    .string()
    .trim()
    .max(200)
    .refine((name) => !nameFault(name), 'must be one line of 1 to 200 visible characters, without an API key'),
  plan: z.string().regex(PLAN_NAME, 'must be the name of a plan'),
  currency: z.string().refine(isCurrency, 'must be an ISO 4217 currency code'),
  external_ref: z
    .string()
    .max(200)
    .refine((ref) => !nameFault(ref), 'must be one line of visible characters')
    .nullish(),
  created_at: z.iso
    .datetime()
    .transform((text) => new Date(text))
    .optional(),
  state: z.enum(['active', 'suspended']).optional(),
});

export type OrganisationFile = z.output<typeof organisationFile>;

/** Reads the organisation.json of a folder; undefined if there is none. @throws CommandFailure if it is malformed */
export function readOrganisation(folder: string): OrganisationFile | undefined {
  const path = join(folder, ORGANISATION_FILE);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const read = readText(path);
  if ('error' in read) throw new CommandFailure(`${ORGANISATION_FILE}: ${read.error}; nothing was stored`);
  const result = organisationFile.safeParse(jsonOf(read.text));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw new CommandFailure(`${path}: ${where}${issue?.message ?? 'is malformed'}; nothing was stored`);
}

/**
 * With `takesOver` (--organisation), an organisation without data gets what the file says; otherwise it keeps its own, and a sandbox its plan.
 * @throws CommandFailure if it then has a currency other than the file's
 */
export async function restoreOrganisation(
  { control }: Store,
  organisation: OrganisationForOperators,
  data: OrganisationData,
  file: OrganisationFile,
  takesOver: boolean,
): Promise<void> {
  const { id, name, plan, currency, sandbox_of } = organisation;
  const empty = await isEmpty(data);
  if (takesOver && empty) {
    const fault = sandbox_of === undefined && plan !== file.plan ? control.plans.faultOf(file.plan) : undefined;
    if (fault !== undefined)
      throw new CommandFailure(
        `${ORGANISATION_FILE}: plan is ${file.plan}, and ${fault}: nothing was stored; add it to PLANS_FILE, or change the file`,
      );
    const restored = await toRestore(control, organisation, file);
    if (Object.entries(restored).every(([member, value]) => organisation[member as keyof typeof restored] === value))
      return;
    if (!(await control.organisations.restore(id, restored))) throw notFound('organisation', id);
    const ref = restored.external_ref === undefined ? '' : `, as ${restored.external_ref}`;
    const state = restored.state === undefined ? '' : `, and ${restored.state}`;
    note(
      `${ORGANISATION_FILE}: the organisation is now ${restored.name}, on the ${restored.plan} plan, in ${restored.currency}${ref}${state}`,
    );
  } else if (currency !== file.currency) {
    const has = empty ? 'is' : 'has data';
    const next = empty ? 'add --organisation to take over what it says' : 'import into a new organisation';
    throw new CommandFailure(
      `${ORGANISATION_FILE} has the currency ${file.currency}, but organisation ${id} ${has} in ${currency}: nothing was stored; ${next}, or remove ${ORGANISATION_FILE} from the folder`,
    );
  } else if (name !== file.name || (plan !== file.plan && sandbox_of === undefined)) {
    const why = empty ? '' : 'has data, and ';
    const hint = empty ? ' (--organisation takes over those of the file)' : '';
    note(`${ORGANISATION_FILE}: the organisation ${why}keeps its name ${name} and its plan ${plan}${hint}`);
  }
}

/** What an organisation without data gets of the file. */
async function toRestore(
  { organisations }: Store['control'],
  before: OrganisationForOperators,
  file: OrganisationFile,
) {
  const { id, plan, sandbox_of, external_ref: own } = before;
  const { name, currency, external_ref: ref, created_at, state } = file;
  // a sandbox has the plan and state of its organisation
  const shared = sandbox_of === undefined ? { plan: file.plan, ...(state === 'suspended' && { state }) } : { plan };
  const holder = ref == null || ref === own ? undefined : await organisations.findByRef(ref);
  const isFree = ref != null && own === null && !holder;
  if (ref != null && ref !== own && !isFree) {
    const why = holder ? `organisation ${holder.id} has it` : `this organisation has ${String(own)}`;
    note(`${ORGANISATION_FILE}: the external_ref ${ref} is not taken over: ${why}`);
  }
  return {
    name,
    currency,
    ...shared,
    ...(isFree && { external_ref: ref }),
    ...(file.id === id && created_at && Number(created_at) !== Number(before.created_at) && { created_at }),
  };
}

async function isEmpty(data: OrganisationData): Promise<boolean> {
  for (const kind of recordKinds) if ((await kind.count(data)) > 0) return false;
  return true;
}
