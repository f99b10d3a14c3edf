import type { OrganisationData } from '../tenant/organisationData';
import type { OrganisationDataCache } from '../tenant/organisationDataCache';
import type { Writer } from '../tenant/slots';
import { AppError } from '../errors';
import type { Control } from '../organisations/control';
import { lacksSample, SandboxRefused, type Sandbox } from '../organisations/sandboxes';
import { type Session, userActor } from '../organisations/sessions';

export interface SandboxOptions {
  readonly control: Pick<Control, 'sandboxes'>;
  readonly organisationData: OrganisationDataCache;
  /** Stores those rows of the sample that are missing. */
  readonly storeSample: (data: OrganisationData, by: Writer) => Promise<unknown>;
}

/**
 * Creates the sandbox of a user's organisation, unless there is one, and completes its sample, unless a reset is to. Resolves with the sandbox's id. `from` is the
 * user's network address. @throws AppError forbidden; not_found if the organisation no longer exists or is being erased
 */
export type PrepareSandbox = (session: Session, from: string) => Promise<string>;

export function createSandboxPreparer({ control, organisationData, storeSample }: SandboxOptions): PrepareSandbox {
  const { sandboxes } = control;
  /** Samples being stored, by sandbox, so that many requests at once cost no more than one. */
  const filling = new Map<string, Promise<void>>();

  /** The sandbox of a user's organisation, which only admins make. */
  async function open({ home, user, role }: Session, from: string): Promise<Sandbox> {
    if (role !== 'admin') {
      const sandbox = await sandboxes.of(home);
      if (sandbox) return sandbox;
      throw new AppError('forbidden', 'There is no sandbox yet. Only admins can make it.');
    }
    const made = await sandboxes.createOnce(home, userActor(user, from)).catch((error: unknown) => {
      if (!(error instanceof SandboxRefused)) throw error;
      throw new AppError('forbidden', 'There can be no sandbox now: this is one, or the former one is being erased.');
    });
    if (made) return made.sandbox;
    throw new AppError('not_found', 'The organisation no longer exists.');
  }

  /** Stores what is missing of the sample. Rows of the user's own stay; a row of the sample with the same unique values as one of these is left out for good. */
  async function fill(sandbox: Sandbox, by: Writer): Promise<void> {
    await storeSample(organisationData(sandbox.organisation), by);
    await sandboxes.noteSeeded(sandbox);
  }

  return async (session, from) => {
    const sandbox = await open(session, from);
    const { id } = sandbox.organisation;
    if (!lacksSample(sandbox)) return id;
    let fillingNow = filling.get(id);
    if (!fillingNow) {
      fillingNow = fill(sandbox, `user:${session.user.id}`).finally(() => filling.delete(id));
      filling.set(id, fillingNow);
    }
    await fillingNow;
    return id;
  };
}
