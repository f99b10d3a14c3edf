import { type JSX, render } from 'preact';
import { searchable } from '../keyText';
import { type Answer, callOf, type Key, settings } from './api';
import { mayMake, revokeKey } from './keyChanges';
import { makeKey, rotateKey } from './keyDialogs';
import { customersInWords, KeyLink, keyText, noteNames, scopesInWords, shownName } from './keyNames';
import { List } from './list';
import { Menu } from './menu';
import { Ago, Button, Filter, Heading, State } from './parts';
import { choose, chosen, placeOf } from './route';
import { Cell, Head, Table } from './table';

/* The list of keys. Its filters are in the address. */

/** How long to wait for more to be typed, in milliseconds. */
const TYPING = 250;
const call = callOf('keys');
const STATES = {
  active: 'Active',
  ended: 'Revoked and expired',
  all: 'All: includes revoked and expired keys',
};

export function keysPage() {
  const place = placeOf('keys');
  const filter = { state: 'active', search: '' };
  let typing: number | undefined;
  const keys = new List<Answer<'keys'>>(read, draw);

  async function read(cursor: string | null): Promise<Answer<'keys'>> {
    const state = filter.state === 'all' ? null : filter.state;
    const page = await call('keys', { state, search: soughtIn(filter.search) || null, cursor });
    noteNames([...page.data, ...page.replaced]);
    return page;
  }

  function show(state: string): void {
    filter.state = state;
    choose({ state: state === 'active' ? null : state });
    void keys.load();
  }

  function search(text: string): void {
    filter.search = text;
    clearTimeout(typing);
    typing = setTimeout(() => {
      // by now another page is shown
      if (!place.checkVisibility()) return;
      choose({ search: soughtIn(text) || null });
      void keys.load();
    }, TYPING);
  }

  function draw(): void {
    // replaced keys that still work are shown in the rows of their replacements
    const replaced = new Map(keys.value?.flatMap((page) => page.replaced.map((key) => [key.id, key] as const)));
    const isAll = filter.state === 'active' && soughtIn(filter.search) === '';
    const shown = keys.rows.filter(({ id }) => !replaced.has(id));
    render(
      <>
        <Heading id="keys-title" title="API keys">
          <span class="count">{keys.value && `${shown.length}${keys.cursor === null ? '' : '+'}`}</span>
          <input
            type="search"
            aria-label="Search keys"
            placeholder="Name or last four"
            maxLength={200}
            autoComplete="off"
            spellcheck={false}
            value={filter.search}
            onInput={({ currentTarget }) => search(currentTarget.value)}
          />
          <Filter label="Show" of={filter.state} options={Object.entries(STATES)} change={show} />
          {mayMake && (
            <Button class="primary" does={makeKey}>
              New key
            </Button>
          )}
        </Heading>
        <Table
          of={keys}
          class="keys"
          name="keys-title"
          columns={['Name', 'Scopes', 'Created', 'Last used', 'Expires', 'State', 'Actions']}
          none={
            isAll
              ? `No active keys.${mayMake ? ' Press “New key” to create one for your program.' : ''}`
              : 'No matching keys.'
          }
          more="Show more keys"
        >
          {shown.map((key) => (
            <Row key={key.id} of={key} before={before(key, replaced)} />
          ))}
        </Table>
      </>,
      place,
    );
  }

  draw();
  return {
    /** Shows the keys that the address asks for. */
    open(): Promise<boolean> {
      clearTimeout(typing);
      const state = chosen('state') ?? '';
      filter.state = Object.hasOwn(STATES, state) ? state : 'active';
      filter.search = chosen('search') ?? '';
      return keys.load();
    },
    refresh: keys.load,
  };
}

const soughtIn = (entered: string): string => searchable(entered).trim();

/** The keys that this one replaced and that still work, newest first. */
function before({ id }: Key, replaced: ReadonlyMap<string, Key>): readonly Key[] {
  const direct = [...replaced.values()].filter((key) => key.rotated_to === id);
  return direct.flatMap((key) => [key, ...before(key, replaced)]);
}

interface RowProps {
  readonly of: Key;
  /** Those that it replaced. */
  readonly before: readonly Key[];
}

function Row({ of: key, before: old }: RowProps): JSX.Element {
  return (
    <tr class={key.state === 'active' ? undefined : 'ended'}>
      <Head label="Name">
        <KeyLink id={key.id} />
        {key.app === null ? <code>{keyText(key)}</code> : <span class="quiet">app at {key.app.host}</span>}
        {old.map((oldKey) => (
          <div class="replaced" key={oldKey.id}>
            <a href={`/settings/keys/${oldKey.id}`}>
              <code>{keyText(oldKey)}</code>
            </a>
            <span class="quiet">
              replaced, ends <Ago at={oldKey.expires_at} />
            </span>
          </div>
        ))}
      </Head>
      <Cell label="Scopes">
        <span title={key.scopes.join(', ')}>{scopesInWords(key.scopes)}</span>
        {key.customer_ids && <span class="quiet"> of {customersInWords(key.customer_ids)}</span>}
      </Cell>
      <Cell label="Created" class="half">
        <Ago at={key.created_at} />
      </Cell>
      <Cell label="Last used" class="half">
        <Ago at={key.last_used_at} otherwise="never" />
      </Cell>
      <Cell label="Expires" class="half">
        {key.state === 'revoked' ? '–' : <Ago at={key.expires_at} otherwise="never" />}
      </Cell>
      <Cell label="State" class="half">
        <State of={key.state} />
        {key.rotated_to !== null && <span class="quiet">replaced</span>}
      </Cell>
      <Cell label="Actions">
        <Actions of={key} before={old} />
      </Cell>
    </tr>
  );
}

/** The actions for a key and those it replaced. */
function Actions({ of: key, before: old }: RowProps): JSX.Element | null {
  if (!settings.mayChange || key.state !== 'active') return null;
  const items = [
    ...(settings.hasPlan && key.kind === 'key' ? [{ text: 'Rotate…', does: () => rotateKey(key) }] : []),
    { text: 'Revoke…', does: () => revokeKey(key), isDangerous: true },
    ...old.map((oldKey) => ({
      text: `Revoke replaced …${oldKey.last_four}…`,
      does: () => revokeKey(oldKey),
      isDangerous: true,
    })),
  ];
  return <Menu label={`Actions for ${shownName(key)}`} items={items} />;
}
