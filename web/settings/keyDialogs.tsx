import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { GATEWAY } from '../base';
import { type Answer, call, failureOf, type Key, now, settings } from './api';
import { ask, Choice } from './ask';
import { Copyable, Sheet, showSecret } from './dialog';
import { changed, nameElements } from './keyChanges';
import * as field from './keyFields';
import { keyText } from './keyNames';
import type { Options } from './parts';
import { exact } from './time';

/* Creating and rotating a key. */

export const mayMake = settings.mayChange && settings.hasPlan;

/** `scopes` are preselected. */
export function makeKey(scopes: readonly string[] = []): void {
  ask({
    title: 'New key',
    button: 'Create key',
    asks: true,
    changed,
    Body: () => (
      <>
        <field.Name />
        <field.Scopes first={scopes} />
        <field.Expiry label="Expires" options={[...field.IN_DAYS, field.ON_A_DATE, field.NEVER]} first="90" />
        <details class="advanced">
          <summary>Advanced: assistants, addresses</summary>
          <field.Assistants value="read" />
          <field.Ranges />
        </details>
      </>
    ),
    doing: (entered) => `Creating the key ${field.textOf(entered, 'name')}…`,
    doubt: ({ isUnsure }) =>
      isUnsure
        ? 'We couldn’t confirm that the key was created. Look for it in the list before you try again: if it is there, revoke it, since it cannot be shown again.'
        : undefined,
    async work(entered) {
      const chosen = entered.getAll('scope') as string[];
      if (chosen.length === 0) throw field.fault('scopes', 'select at least one scope');
      const input = {
        ...{ name: field.textOf(entered, 'name'), scopes: chosen, expires_at: field.expiryOf(entered) },
        ...{ allowed_ranges: field.rangesOf(entered), mcp: entered.get('mcp') as Key['mcp'] },
      };
      try {
        const answer = await call('make', input);
        return () => showNewKey(answer);
      } catch (error) {
        const failure = failureOf(error);
        nameElements(failure, input);
        throw failure;
      }
    },
  });
}

/** When the new key expires: after the same lifetime as the old one, or at the same time. */
function nextExpiries({ created_at: created, expires_at: end }: Key): Options {
  if (end === null) return [['', 'never, like the old key'], field.ON_A_DATE];
  const next = new Date(now() + Date.parse(end) - Date.parse(created)).toISOString();
  const sameEnd = [end, `${exact(end)}, like the old key`] as const;
  return [[next, `${exact(next)}, same lifetime`], ...(Date.parse(end) > now() ? [sameEnd] : []), field.ON_A_DATE];
}

export function rotateKey(key: Key): void {
  /** A replaced key expires at the end of its overlap, so the lifetime to repeat is that of its (by now revoked) replacement. */
  function Body(): JSX.Element {
    const { rotated_to: id } = key;
    const [like, setLike] = useState(id === null ? key : undefined);
    useEffect(() => {
      // if the replacement cannot be read, the gateway still uses its lifetime
      if (id !== null) void call('key', { key_id: id }).then(setLike, () => undefined);
    }, []);
    const unknown: Options = [[field.AS_IT_IS, 'the lifetime of the key that replaced it'], field.ON_A_DATE];
    return (
      <>
        <p>
          A new key replaces <strong>{key.name}</strong> (<code>{keyText(key)}</code>), with the same name, scopes and
          allowed addresses and, unless you choose otherwise, the same lifetime. What still uses the old key when that
          expires gets a 401.
        </p>
        <Choice label="Keep the old key working for" name="overlap" options={OVERLAPS} first="24" />
        <field.Expiry label="The new key expires" options={like ? nextExpiries(like) : unknown} />
      </>
    );
  }
  ask({
    title: 'Rotate this key?',
    button: 'Rotate key',
    asks: true,
    changed,
    Body,
    doing: () => `Rotating the key ${key.name}…`,
    doubt: ({ isUnsure }) =>
      isUnsure
        ? `We couldn’t confirm that the key ${key.name} was rotated. If another key has replaced it, revoke that one, since it cannot be shown again, and rotate this one again.`
        : undefined,
    async work(entered) {
      const lifetimes = { overlap_hours: Number(entered.get('overlap')), expires_at: field.expiryOf(entered) };
      const answer = await call('rotate', { key_id: key.id, ...lifetimes });
      return () => showNewKey(answer);
    },
  });
}

const OVERLAPS: Options = [
  ['0', '0 hours (expire it now)'],
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['168', '7 days'],
  ['720', '30 days'],
];

type NewKey = Answer<'make'> & Partial<Pick<Answer<'rotate'>, 'old'>>;

/** Shows a new key, then refreshes the pages. Waits while another dialog is open, since somebody may be typing in it. */
function showNewKey(answer: NewKey): void {
  showSecret(`The key ${answer.api_key.name} is ready. It is shown once.`, 'Show the key', () => (
    <NewKeySheet {...answer} />
  ));
  changed();
}

function NewKeySheet({ key: value, api_key: newKey, old }: NewKey): JSX.Element {
  // quoted, since zsh takes the question mark of an unquoted URL as a pattern
  const curl = `curl -H "Authorization: Bearer ${value}" "${GATEWAY}/api/v1${firstPath(newKey.scopes)}"`;
  const scopegate = {
    ...{ type: 'http', url: `${GATEWAY}/mcp` },
    headers: { Authorization: `Bearer ${value}` },
  };
  return (
    <Sheet title="Save this key now" button="I have saved it">
      <p>
        <strong>{newKey.name}</strong>: it will not be shown again. Store it where your program reads its secrets.
      </p>
      <Copyable name="The key" text={value} isFirst />
      <p>
        {newKey.expires_at === null ? 'It never expires.' : `It expires at ${exact(newKey.expires_at)}.`}{' '}
        {old && endOfOld(old, newKey)}
      </p>
      <p>Try it:</p>
      <Copyable name="Example request with the key" text={curl} />
      {newKey.mcp !== 'off' && (
        <details>
          <summary>Connect an assistant</summary>
          <p class="hint">
            For clients of the Model Context Protocol that read a file, such as <code>.mcp.json</code>. It contains the
            key: keep the file out of version control, or write <code>{'${SCOPEGATE_KEY}'}</code> in its place where
            your client replaces that by the environment’s.
          </p>
          <Copyable
            name="Configuration for an assistant"
            text={JSON.stringify({ mcpServers: { scopegate } }, undefined, 2)}
          />
        </details>
      )}
    </Sheet>
  );
}

/** Compares two times of the gateway, since this computer's clock may differ from its clock. */
function endOfOld({ expires_at: end }: { expires_at: string | null }, { created_at: created }: Key): string {
  if (end === null || Date.parse(end) <= Date.parse(created)) return 'The old key no longer works.';
  return `The old key works until ${exact(end)}.`;
}

/** A route that the key can read. */
function firstPath(scopes: readonly string[]): string {
  const [resource] = scopes.find((scope) => scope.endsWith(':read'))?.split(':') ?? [];
  return resource === undefined ? '/me' : `/${resource}?limit=3`;
}
