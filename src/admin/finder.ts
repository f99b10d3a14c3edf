import { notFound } from '../errors';
import type { Control } from '../organisations/control';
import type { Listed } from '../organisations/organisationRows';
import { isOrganisationRef, REF_PREFIX } from '../units';
import { erasing } from './refusals';

export type Finder = ReturnType<typeof createFinder>;

/** Finds organisations as operators name them: by their ids, or `ref:` and their external_ref. */
export function createFinder(organisations: Control['organisations']) {
  const find = (id: string): Promise<Listed | undefined> =>
    isOrganisationRef(id) ? organisations.findByRef(id.slice(REF_PREFIX.length)) : organisations.find(id.toLowerCase());

  /** @throws AppError not_found */
  async function requireExisting(id: string): Promise<Listed> {
    const organisation = await find(id);
    if (!organisation) throw notFound('organisation');
    return organisation;
  }

  /** @throws AppError not_found; conflict if it is being erased */
  async function requireOpen(id: string): Promise<Listed> {
    const organisation = await requireExisting(id);
    if (organisation.state === 'erasing') throw erasing();
    return organisation;
  }

  /** Those that exist, by the given name. */
  async function findAll(names: readonly string[]): Promise<Map<string, Listed>> {
    const refs = names.filter(isOrganisationRef).map((name) => name.slice(REF_PREFIX.length));
    const matches = await organisations.findAll(
      names.filter((name) => !isOrganisationRef(name)),
      refs,
    );
    const byName = matches.flatMap((organisation) => [
      [organisation.id, organisation] as const,
      ...(organisation.external_ref === null ? [] : [[REF_PREFIX + organisation.external_ref, organisation] as const]),
    ]);
    return new Map(byName);
  }

  return { find, requireExisting, requireOpen, findAll };
}
