import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { nameFault } from '../../auth/keys';
import { type Plan, PLANS } from '../../auth/plans';
import type { Organisation } from '../../auth/principal';
import type { OrganisationData } from '../../database/organisationData';
import { recordKinds } from '../../resources';
import { isCurrency } from '../../schema/currency';
import { CommandFailure, notFound } from '../common/failure';
import type { Store } from '../common/open';
import { note } from '../common/terminal';
import { jsonOf } from '../common/values';
import { ORGANISATION_FILE } from '../records/schemas';

const organisationFile = z.strictObject({
  name: z
    .string()
    .trim()
    .max(200)
    .refine(
      (name) => nameFault(name) === undefined,
      'must be one line of 1 to 200 visible characters, without an API key',
    ),
  plan: z.enum(Object.keys(PLANS) as Plan[]),
  currency: z.string().refine(isCurrency, 'must be an ISO 4217 currency code'),
});

type OrganisationFile = z.output<typeof organisationFile>;

/** The organisation.json of a folder; undefined if there is none. @throws CommandFailure if it is malformed */
export async function readOrganisation(folder: string): Promise<OrganisationFile | undefined> {
  const path = join(folder, ORGANISATION_FILE);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const result = organisationFile.safeParse(jsonOf(await readFile(path, 'utf8')));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
  throw new CommandFailure(`${path}: ${where}${issue?.message ?? 'is malformed'}; nothing was stored`);
}

/**
 * Gives an organisation without data the name, plan and currency of its file. One that has data keeps its name and plan.
 * @throws CommandFailure if it has data, and another currency
 */
export async function restoreOrganisation(
  { control }: Store,
  organisation: Organisation,
  data: OrganisationData,
  file: OrganisationFile,
): Promise<void> {
  const { id, name, plan, currency } = organisation;
  if (name === file.name && plan === file.plan && currency === file.currency) return;
  if (await isEmpty(data)) {
    if (!(await control.organisations.restore(id, file))) throw notFound('organisation', id);
    note(`${ORGANISATION_FILE}: the organisation is now ${file.name}, on the ${file.plan} plan, in ${file.currency}`);
  } else if (currency !== file.currency) {
    throw new CommandFailure(
      `${ORGANISATION_FILE} has the currency ${file.currency}, but organisation ${id} has data in ${currency}: nothing was stored; import into a new organisation, or remove ${ORGANISATION_FILE} from the folder`,
    );
  } else note(`${ORGANISATION_FILE}: the organisation has data, and keeps its name ${name} and its plan ${plan}`);
}

async function isEmpty(data: OrganisationData): Promise<boolean> {
  for (const kind of recordKinds) if ((await kind.count(data)) > 0) return false;
  return true;
}
