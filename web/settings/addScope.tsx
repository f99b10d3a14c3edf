import type { JSX } from 'preact';
import { type Answer, call, Failure, type Key } from './api';
import { ask } from './ask';
import { close } from './dialog';
import { changed, mayMake } from './keyChanges';
import { shownName } from './keyNames';
import { isOffered, ScopeChanges } from './keyScopes';
import { Ago, Button } from './parts';

/* What a key lacks, as its requests that got 403 show, and the button that adds it. */

interface AddScopeProps {
  readonly keyId: string;
  /** A missing scope; of alternatives (`quotes:read or orders:read`), the first is added. */
  readonly scope: string;
}

/** A button that adds a scope to a key, for admins. */
export function AddScope({ keyId, scope: missing }: AddScopeProps): JSX.Element | null {
  const scope = missing.split(' or ').find(isOffered);
  if (!mayMake || scope === undefined) return null;
  return (
    <Button class="link" does={() => addScope(keyId, scope)}>
      Add {scope} to this key…
    </Button>
  );
}

function addScope(id: string, scope: string): void {
  let key: Key | undefined;
  // such as the details of a request
  close();
  ask({
    title: `Add ${scope}`,
    button: 'Add scope',
    changed,
    async prepare() {
      key = await call('key', { key_id: id });
      if (key.scopes.includes(scope)) {
        changed();
        return `The key has ${scope} by now.`;
      }
      if (key.state !== 'active') throw new Failure(`The key is ${key.state}.`, { code: 'not_found' });
      return undefined;
    },
    Body: () => <>{key && <Change of={key} scope={scope} />}</>,
    of: id,
    doing: () => `Adding ${scope}…`,
    doubt: 'We couldn’t confirm that it was added. Adding it again does no harm.',
    async work() {
      // somebody else may have changed the others meanwhile
      const { scopes } = await call('key', { key_id: id });
      await call('update', { key_id: id, scopes: [...new Set([...scopes, scope])] });
      return `Added ${scope}.`;
    },
  });
}

function Change({ of: key, scope }: { of: Key; scope: string }): JSX.Element {
  return (
    <>
      <p>
        <strong>{shownName(key)}</strong> may use it from its next request on.
        {key.rotated_to !== null && ' The key was replaced: the one that replaced it stays as it is.'}
      </p>
      <ScopeChanges from={key.scopes} to={[...key.scopes, scope]} />
    </>
  );
}

interface MissingScopesProps {
  readonly of: Key;
  /** Its newest requests that got 403 for a missing scope. */
  readonly refused: Answer<'missingScopes'>['data'];
}

/** The scopes for whose lack requests of an active key got 403, and that it still lacks. */
export function MissingScopes({ of: key, refused }: MissingScopesProps): JSX.Element | null {
  const latest = new Map(refused.toReversed().map(({ missing_scope: scope, at }) => [scope ?? '', at] as const));
  const isMissing = (scope: string): boolean => scope.split(' or ').every((one) => !key.scopes.includes(one));
  const missing = [...latest].filter(([scope]) => scope !== '' && isMissing(scope));
  if (key.state !== 'active' || missing.length === 0) return null;
  return (
    <ul class="info warning">
      {missing.map(([scope, at]) => (
        <li key={scope}>
          Requests got 403 for the missing scope <code>{scope}</code>, last <Ago at={at} />.{' '}
          <AddScope keyId={key.id} scope={scope} />
        </li>
      ))}
    </ul>
  );
}
