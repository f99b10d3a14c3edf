import { trusted } from 'mongoose';
import type { ControlModels } from './models';

/*
 * Gateways hold what they record of requests for some seconds, so it may come when its organisation is erased. What is written is
 * looked at once before, and once after, since the organisation may be erased in between (docs/decisions/organisation-life.md).
 */

/** Ids to look up in one command. */
const AT_ONCE = 1000;

/** Which of these organisations are there, and are not being erased. */
export async function presentOrganisations(
  { organisations }: Pick<ControlModels, 'organisations'>,
  ids: Iterable<string>,
): Promise<Set<string>> {
  const present = new Set<string>();
  for (const some of parts([...new Set(ids)])) {
    const filter = { _id: trusted({ $in: some }), state: trusted({ $ne: 'erasing' as const }) };
    for (const { _id } of await organisations.find(filter, { _id: 1 }).lean()) present.add(_id);
  }
  return present;
}

/** Which of these keys belong to such organisations. */
export async function presentKeys(
  models: Pick<ControlModels, 'organisations' | 'apiKeys'>,
  ids: Iterable<string>,
): Promise<Set<string>> {
  const owners = new Map<string, string>();
  for (const some of parts([...new Set(ids)])) {
    const keys = await models.apiKeys.find({ _id: trusted({ $in: some }) }, { organisation: 1 }).lean();
    for (const { _id, organisation } of keys) owners.set(_id, organisation.id);
  }
  const present = await presentOrganisations(models, owners.values());
  return new Set([...owners].flatMap(([key, organisation]) => (present.has(organisation) ? key : [])));
}

function parts(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, at) =>
    ids.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  );
}
