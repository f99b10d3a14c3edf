import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { DAY } from '../../src/units';
import { Failure, now } from './api';
import { Field, useFault } from './ask';
import { OptionList, type Options } from './parts';

/* Fields of the dialogs of keys and webhook endpoints. */

/** The choice that leaves the expiry as it is. */
export const AS_IT_IS = 'as-it-is';

export const MCP = {
  off: 'may not use it',
  read: 'may read, within its scopes',
  write: 'may read and write, within its scopes',
};

export const textOf = (entered: FormData, name: string): string => (entered.get(name) as string | null)?.trim() ?? '';

/**
 * The chosen expiry in ISO 8601: the choice itself if it is a time, null for never, undefined to leave it as it is.
 * @throws Failure if the date is missing or past
 */
export function expiryOf(entered: FormData): string | null | undefined {
  const choice = entered.get('expires') as string | null;
  if (choice === AS_IT_IS || choice === null) return undefined;
  if (choice === '') return null;
  if (choice.includes('T')) return choice;
  if (choice !== 'date') return new Date(now() + Number(choice) * DAY).toISOString();
  const end = Date.parse(`${textOf(entered, 'date')}T23:59:59.000Z`);
  if (Number.isNaN(end)) throw fault('expires_at', 'enter a date');
  if (end <= now()) throw fault('expires_at', 'must not be in the past');
  return new Date(end).toISOString();
}

/** The chosen scopes. @throws Failure if there is none */
export function scopesOf(entered: FormData): string[] {
  const chosen = entered.getAll('scope') as string[];
  if (chosen.length === 0) throw fault('scopes', 'select at least one scope');
  return chosen;
}

/** The failure of an argument that is missing or invalid. */
export function fault(argument: string, detail: string): Failure {
  return new Failure('Something is missing.', { code: 'page', faults: [{ pointer: `/${argument}`, detail }] });
}

export const rangesOf = (entered: FormData): string[] => itemsOf(entered, 'allowed_ranges', ',');

/** The ids that were entered, separated by anything; null for none. */
export function customerIdsOf(entered: FormData): string[] | null {
  const ids = itemsOf(entered, 'customer_ids', /[\s,;]+/);
  return ids.length === 0 ? null : ids;
}

const itemsOf = (entered: FormData, name: string, between: string | RegExp): string[] =>
  textOf(entered, name)
    .split(between)
    .map((item) => item.trim())
    .filter((item) => item !== '');

export const Name = ({ value = '' }: { value?: string }): JSX.Element => (
  <Field name="name" label="Name" required maxLength={200} autofocus defaultValue={value} />
);

/** `what` says what they are for: `a key that …`. */
export const Customers = ({ what }: { what: string }): JSX.Element => (
  <Field
    name="customer_ids"
    label="Only these customers (optional)"
    spellcheck={false}
    defaultValue=""
    hint={`Ids of up to 100 customers, for ${what}. They cannot be changed later. Leave empty for all customers.`}
  />
);

export const IN_DAYS: Options = [
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
];
export const ON_A_DATE = ['date', 'on a date'] as const;
export const NEVER = ['', 'never'] as const;

/** When a key expires; the field is the date, if one is asked for. */
export function Expiry({ label, options, first }: { label: string; options: Options; first?: string }): JSX.Element {
  const [choice, setChoice] = useState(first);
  // options may arrive later, without the one that was chosen
  const chosen = options.some(([value]) => value === choice) ? choice : options[0]?.[0];
  const isDate = chosen === ON_A_DATE[0];
  const { place, described } = useFault('expires_at');
  return (
    <div class="field" data-field="expires_at">
      <div class="beside">
        <label>
          {label}
          <select
            name="expires"
            value={chosen}
            onChange={({ currentTarget }) => setChoice(currentTarget.value)}
            {...(isDate ? {} : described)}
          >
            <OptionList of={options} />
          </select>
        </label>
        {isDate && (
          <div>
            <label>
              Last day (UTC)
              <input type="date" name="date" max="9999-12-31" {...described} />
            </label>
            {place}
          </div>
        )}
      </div>
      {!isDate && place}
      {isDate && <p class="hint">It works until that day ends in UTC.</p>}
    </div>
  );
}
