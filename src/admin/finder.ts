import { notFound } from '../errors';
import type { Control } from '../organisations/control';
import type { Listed } from '../organisations/organisationRows';
import { isOrganisationRef, REF_PREFIX } from '../units';
import { erasing } from './refusals';

export type Finder = ReturnType<typeof finderOf>;

/** Finds organisations as operators name them: by their ids, or `ref:` and their external_ref. */
export function finderOf(organisations: Control['organisations']) {
  const find = (id: string): Promise<Listed | undefined> =>
    isOrganisationRef(id) ? organisations.findByRef(id.slice(REF_PREFIX.length)) : organisations.find(id.toLowerCase());

  /** @throws AppError not_found */
  async function requireExisting(id: string): Promise<Listed> {
    const found = await find(id);
    if (!found) throw notFound('organisation');
    return found;
  }

  /** @throws AppError not_found; conflict if it is being erased */
  async function requireOpen(id: string): Promise<Listed> {
    const found = await requireExisting(id);
    if (found.state === 'erasing') throw erasing();
    return found;
  }

  /** Those that exist, by the given name. */
  async function findAll(names: readonly string[]): Promise<Map<string, Listed>> {
    const refs = names.filter(isOrganisationRef).map((name) => name.slice(REF_PREFIX.length));
    const found = await organisations.findAll(
      names.filter((name) => !isOrganisationRef(name)),
      refs,
    );
    const byName = found.flatMap((one) => [
      [one.id, one] as const,
      ...(one.external_ref === null ? [] : [[REF_PREFIX + one.external_ref, one] as const]),
    ]);
    return new Map(byName);
  }

  return { find, requireExisting, requireOpen, findAll };
}
