import type { OrganisationData, OrganisationDataCache } from '../database/organisationData';
import { AppError } from '../errors';
import type { Control } from '../organisations/control';
import { FullClusterError } from '../organisations/placement';
import { SandboxRefused, type Sandbox } from '../organisations/sandboxes';
import { type Session, userActor } from '../organisations/sessions';

export interface SandboxOptions {
  readonly control: Pick<Control, 'sandboxes'>;
  readonly organisationData: OrganisationDataCache;
  /** Stores what is missing of the sample. */
  readonly storeSample: (data: OrganisationData) => Promise<unknown>;
}

export type PrepareSandbox = (session: Session, from: string) => Promise<void>;

/** Makes the sandbox of a user's organisation, unless there is one, and completes its sample. @throws AppError forbidden */
export function sandboxMaker({ control, organisationData, storeSample }: SandboxOptions): PrepareSandbox {
  const { sandboxes } = control;
  /** By sandbox, so that many at once cost what one does. */
  const filling = new Map<string, Promise<void>>();

  async function make({ home, user, role }: Session, from: string): Promise<Sandbox> {
    if (role !== 'admin') throw new AppError('forbidden', 'There is no sandbox yet. Only admins can make it.');
    try {
      const made = await sandboxes.create({ of: home, seeded: true }, userActor(user, from));
      if (made) return made;
      throw new AppError('not_found', 'The organisation no longer exists.');
    } catch (error) {
      if (error instanceof FullClusterError)
        throw new AppError('forbidden', 'There is no room for a sandbox. Ask the operator of this gateway.');
      // made by somebody else meanwhile
      const other = error instanceof SandboxRefused ? await sandboxes.of(home) : undefined;
      if (!other)
        throw error instanceof SandboxRefused ? new AppError('forbidden', 'A sandbox has none of its own.') : error;
      return other;
    }
  }

  async function fill({ organisation }: Sandbox): Promise<void> {
    await storeSample(organisationData(organisation));
    await sandboxes.note(organisation.id, { unseeded: false });
  }

  return async (session, from) => {
    const sandbox = (await sandboxes.of(session.home)) ?? (await make(session, from));
    if (!sandbox.unseeded) return;
    const { id } = sandbox.organisation;
    let begun = filling.get(id);
    if (!begun) {
      begun = fill(sandbox).finally(() => filling.delete(id));
      filling.set(id, begun);
    }
    await begun;
  };
}
