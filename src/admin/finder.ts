import { notFound } from '../errors';
import type { Control } from '../organisations/control';
import type { OrganisationForOperators } from '../organisations/organisationRows';
import { splitName, splitNames } from '../units';
import { beingErased } from './refusals';

export type Finder = ReturnType<typeof createFinder>;

/** Finds organisations by the names that operators give them: their ids, in upper or lower case, or `ref:` and their external_ref. */
export function createFinder(organisations: Control['organisations']) {
  function find(name: string): Promise<OrganisationForOperators | undefined> {
    const { id, ref } = splitName(name);
    return ref === undefined ? organisations.find(id) : organisations.findByRef(ref);
  }

  /** @throws AppError not_found */
  async function requireExisting(name: string): Promise<OrganisationForOperators> {
    const organisation = await find(name);
    if (!organisation) throw notFound('organisation');
    return organisation;
  }

  /** @throws AppError not_found; conflict if it is being erased */
  async function requireOpen(name: string): Promise<OrganisationForOperators> {
    const organisation = await requireExisting(name);
    if (organisation.state === 'erasing') throw beingErased();
    return organisation;
  }

  /** The organisations that exist, by their names as given. */
  async function findAll(names: readonly string[]): Promise<Map<string, OrganisationForOperators>> {
    const { ids, refs } = splitNames(names);
    const matches = await organisations.findAll(ids, refs);
    const byId = new Map(matches.map((organisation) => [organisation.id, organisation]));
    const byRef = new Map(matches.map((organisation) => [organisation.external_ref, organisation]));
    const entries = names.flatMap((name) => {
      const { id, ref } = splitName(name);
      const organisation = ref === undefined ? byId.get(id) : byRef.get(ref);
      return organisation ? [[name, organisation] as const] : [];
    });
    return new Map(entries);
  }

  return { find, requireExisting, requireOpen, findAll };
}
