import { Fragment, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Answer, call, type Failure, type Key, settings, settled } from './api';
import { ask } from './ask';
import type { Calls } from './calls';
import * as field from './keyFields';
import { KeyForm } from './keyForm';
import { keyText } from './keyNames';
import { inWords } from './numbers';
import { refresh } from './route';
import { exact } from './time';

/* Changing and revoking a key. */

/** Whether the user may create, change and rotate keys. */
export const mayMake = settings.mayChange && settings.hasPlan;

/** To be called after a key was changed, or may have been. */
export const changed = (): void => refresh('integrations', 'keys', 'key', 'audit');

/** Adds the offending value to each fault of a list element. */
export function nameElements({ faults }: Failure, variables: object): void {
  const lists = variables as Readonly<Record<string, readonly string[]>>;
  for (const fault of faults) {
    const [, list = '', at] = fault.pointer.split('/');
    const value = at === undefined ? undefined : lists[list]?.[Number(at)];
    if (value !== undefined) fault.detail = `“${value}” ${fault.detail}`;
  }
}

/** Creates or changes a key. @throws Failure with the offending value in each fault of a list element */
export async function callNaming<Operation extends 'make' | 'update'>(
  operation: Operation,
  variables: Calls[Operation]['variables'],
): Promise<Answer<Operation>> {
  const [answer, failure] = await settled(call(operation, variables));
  if (!failure) return answer;
  nameElements(failure, variables);
  throw failure;
}

/** Asks what to change, and sends only that, so that what somebody else has changed meanwhile stays. */
export function editKey(key: Key): void {
  const { id, expires_at: expires, rotated_to: to } = key;
  const asItIs = [field.AS_IT_IS, expires === null ? 'never, as it is' : `${exact(expires)}, as it is`] as const;
  const options = [asItIs, ...field.IN_DAYS, field.ON_A_DATE, field.NEVER];
  const why = key.kind === 'app' ? 'An admin decided that when the app was connected' : 'It was replaced';
  const isFixed = key.kind === 'app' || to !== null;
  const ends = !isFixed || expires === null ? { options } : { at: expires, why };
  ask({
    title: 'Edit this key',
    button: 'Save',
    changed,
    Body: () => <KeyForm first={key} ends={ends} isEdited />,
    of: id,
    doing: (entered) => `Saving the key ${field.textOf(entered, 'name')}…`,
    doubt: 'We couldn’t confirm that it was saved. Saving it again does no harm.',
    async work(entered) {
      const input = {
        name: field.textOf(entered, 'name'),
        allowed_ranges: field.rangesOf(entered),
        expires_at: field.expiryOf(entered),
        mcp: entered.get('mcp') as Key['mcp'],
      };
      const changes: Partial<typeof input> & { scopes?: string[] } = Object.fromEntries(
        Object.entries(input).filter(
          ([of, value]) => value !== undefined && String(value) !== String(key[of as keyof typeof input]),
        ),
      );
      const scopes = await scopesAfter(key, field.scopesOf(entered));
      if (scopes) changes.scopes = scopes;
      if (Object.keys(changes).length === 0) return 'Nothing was changed.';
      await callNaming('update', { key_id: id, ...changes });
      return `Saved the key ${input.name}.`;
    },
  });
}

/** The key's scopes once those are added and removed that were changed on this page; undefined if none were. */
async function scopesAfter({ id, scopes: before }: Key, chosen: readonly string[]): Promise<string[] | undefined> {
  const added = chosen.filter((scope) => !before.includes(scope));
  const isKept = (scope: string): boolean => chosen.includes(scope) || !before.includes(scope);
  if (added.length === 0 && before.every(isKept)) return undefined;
  const { scopes } = await call('key', { key_id: id });
  return [...new Set([...scopes.filter(isKept), ...added])];
}

export function revokeKey(key: Key): void {
  const { id, name, last_used_at: at, last_used_from: from } = key;
  function Body(): JSX.Element {
    const [requests, setRequests] = useState(0);
    useEffect(() => {
      // revoking must not depend on the count
      void call('usage', { key_id: id, period: 'last_24h' }).then(
        (usage) => setRequests(usage.requests),
        () => undefined,
      );
    }, []);
    const use = `It was last used on ${at === null ? '' : exact(at)}${from === null ? '' : ` from ${from}`}.`;
    return (
      <>
        <p>
          Anything that uses <strong>{name}</strong> (<code>{keyText(key)}</code>) stops working immediately: its next
          request gets a 401. This cannot be undone.
        </p>
        <p>
          {at === null ? 'It has never been used.' : use}{' '}
          {requests > 0 && `It made ${inWords(requests, 'request')} in the last 24 hours.`}
        </p>
        <p>
          Its scopes:{' '}
          {key.scopes.map((scope, place) => (
            <Fragment key={scope}>
              {place > 0 && ', '}
              <code>{scope}</code>
            </Fragment>
          ))}
        </p>
        <p class="hint">
          {key.kind === 'app'
            ? 'The app then has no access until an admin connects it again.'
            : key.rotated_to === null
              ? 'To replace a key without downtime, rotate it instead: the old one keeps working for a while.'
              : 'It was replaced: the key that replaced it is not revoked with it.'}
        </p>
      </>
    );
  }
  ask({
    title: 'Revoke this key?',
    button: 'Revoke key',
    isDangerous: true,
    changed,
    Body,
    of: id,
    doing: () => `Revoking the key ${name}…`,
    doubt: `We couldn’t confirm that the key ${name} was revoked. Revoking it again does no harm.`,
    async work() {
      await call('revoke', { key_id: id });
      return `Revoked key ${name}${key.rotated_to === null ? '' : `, the replaced one …${key.last_four}`}.`;
    },
  });
}
