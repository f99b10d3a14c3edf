import { CommandFailure, notFound } from '../common/failure';
import type { Store } from '../common/open';

/** Why a key that is not active cannot be changed or rotated. */
export async function notActive({ control }: Store, id: string, done: string): Promise<CommandFailure> {
  const key = await control.apiKeys.find(id);
  if (!key) return notFound('key', id, 'see scopegate key list --org ID');
  const { organisation, revoked_at: revoked, expires_at: expired } = key;
  const ended = revoked ? `was revoked at ${revoked.toISOString()}` : `expired at ${expired?.toISOString() ?? ''}`;
  // an active key is refused only while its organisation is being erased
  const why =
    control.apiKeys.stateOf(key) === 'active' ? `belongs to ${organisation.id}, which is being erased` : ended;
  return new CommandFailure(
    `key ${id} ${why}, so it cannot be ${done}; for a new one: scopegate key create --org ${organisation.id}`,
  );
}
