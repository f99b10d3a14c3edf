import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Key } from './api';
import { Choice, Field } from './ask';
import * as field from './keyFields';
import { customersInWords } from './keyNames';
import { othersOf, ScopeChanges, Scopes } from './keyScopes';
import { Facts, type Options } from './parts';
import { exact } from './time';

/* What is asked of a key that is created or edited, beside a summary of what it will be. */

interface KeyFormProps {
  /** What the fields show at first. */
  readonly first: Pick<Key, 'name' | 'scopes' | 'allowed_ranges' | 'mcp' | 'customer_ids'>;
  /** The choices of when it ends, and which is chosen at first; without a choice its end, and why. */
  readonly ends: { readonly options: Options; readonly first?: string } | { readonly at: string; readonly why: string };
  /** Whether the key exists, so that the summary shows which scopes are added and removed. */
  readonly isEdited?: boolean;
}

export function KeyForm({ first, ends, isEdited = false }: KeyFormProps): JSX.Element {
  const [chosen, choose] = useState<readonly string[]>(first.scopes);
  const [entered, setEntered] = useState<FormData>();
  const place = useRef<HTMLDivElement>(null);
  const note = (): void => {
    const form = place.current?.closest('form');
    if (form) setEntered(new FormData(form));
  };
  useLayoutEffect(note, []);
  return (
    <div class="key-form" onInput={note} ref={place}>
      <div>
        <field.Name value={first.name} />
        <div class="beside">
          {'at' in ends ? (
            <p class="info">
              {ends.why}, so it ends at {exact(ends.at)}.
            </p>
          ) : (
            <field.Expiry label="Expires" {...ends} />
          )}
          <Choice label="AI assistants (MCP)" name="mcp" options={Object.entries(field.MCP)} first={first.mcp} />
        </div>
        <Scopes chosen={chosen} choose={choose} others={othersOf(first.scopes)} />
        <Field
          name="allowed_ranges"
          label="Allowed addresses (optional)"
          spellcheck={false}
          defaultValue={first.allowed_ranges.join(', ')}
          hint="Comma-separated CIDR ranges, e.g. 203.0.113.0/24. Leave empty to allow any address."
        />
        {!isEdited && <field.Customers what="a key that sees only these customers and what belongs to them" />}
      </div>
      <div class="summary" role="group" aria-label="Summary">
        <h3>This key</h3>
        <Facts
          of={[
            ['May', <ScopeChanges from={isEdited ? first.scopes : chosen} to={chosen} />],
            ['AI assistants', field.MCP[(entered?.get('mcp') as Key['mcp'] | null) ?? first.mcp]],
            ['From', entered === undefined ? '' : field.rangesOf(entered).join(', ') || 'any address'],
            ['Data of', customersInWords(isEdited ? first.customer_ids : entered && field.customerIdsOf(entered))],
            ['Until', 'at' in ends ? exact(ends.at) : entered === undefined ? '' : endOf(entered, ends.options)],
          ]}
        />
      </div>
    </div>
  );
}

/** Until when the key works, in words. */
function endOf(entered: FormData, options: Options): string {
  try {
    const end = field.expiryOf(entered);
    if (end === undefined) return options.find(([value]) => value === field.AS_IT_IS)?.[1] ?? '';
    return end === null ? 'it is revoked' : exact(end);
  } catch {
    return 'no date yet';
  }
}
