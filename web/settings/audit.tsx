import { type JSX, render } from 'preact';
import { AUDIT_GROUPS } from '../../src/organisations/auditEvents';
import { UUID } from '../../src/units';
import { type Answer, callOf } from './api';
import { Csv, type EventFilters } from './csv';
import { EventTable, OTHERS } from './events';
import { createNewestKeys, KeyChoice } from './keyNames';
import { List, Reading } from './list';
import { Button, Filter, Folded, Heading, OptionList, type Options, Problem } from './parts';
import { choose, chosen, placeOf } from './route';
import { EVENTS } from './sentences';
import { startOf } from './time';

/* The audit log. Its filters are in the address. */

const call = callOf('audit');
/** The most events that a file can have; the browser holds them in memory while it is made. */
const MOST = 50_000;

/** The groups of actions, with what each is called, and what all of it is called. */
const GROUPS = [
  ['keys', 'API keys', 'All about API keys'],
  ['webhooks', 'Webhooks', 'All about webhooks'],
  ['members', 'Members', 'All about members'],
  ['organisation', 'Organisation', 'All about the organisation'],
] as const satisfies readonly (readonly [keyof typeof AUDIT_GROUPS, string, string])[];
const ACTIONS: ReadonlySet<string> = new Set([...Object.keys(AUDIT_GROUPS), ...Object.keys(EVENTS)]);

/** The filters as the address has them. */
const NAMES = ['action', 'actor', 'key', 'since', 'until'] as const;
type Chosen = Readonly<Record<(typeof NAMES)[number], string | null>>;
const NOTHING: Chosen = { action: null, actor: null, key: null, since: null, until: null };

export function auditPage() {
  const place = placeOf('audit');
  let filters = NOTHING;
  const events = new List<Answer<'events'>>((cursor) => call('events', { ...asked(filters), cursor }), draw);
  const members = new Reading<Answer<'members'>>(() => call('members'), draw);
  const newestKeys = createNewestKeys(call, draw, () => filters.key ?? '');
  const csv = new Csv(draw);

  /** Reads the events that match the filters, and forgets those that matched the ones before. */
  function read(): Promise<boolean> {
    events.clear();
    return events.load();
  }

  function change(changes: Partial<Chosen>): void {
    filters = { ...filters, ...changes };
    choose(filters);
    void read();
  }

  function clear(): void {
    change(NOTHING);
    place.querySelector('select')?.focus();
  }

  function draw(): void {
    const { action, actor, key, since, until } = filters;
    const count = NAMES.filter((name) => filters[name] !== null).length;
    const lost = [members, newestKeys].find(({ failure }) => failure);
    // the focused button may disappear
    const hadFocus = place.querySelector('#csv-buttons')?.contains(document.activeElement) === true;
    render(
      <>
        <Heading id="audit-title" title="Audit log">
          <button
            class="button"
            type="button"
            data-most={MOST}
            onClick={({ currentTarget }) => csv.press(asked(filters), Number(currentTarget.dataset.most))}
          >
            {csv.isReading ? 'Stop' : 'Download CSV'}
          </button>
        </Heading>
        <Folded id="audit-filters" count={count} class="filters">
          <Filter
            label="What"
            of={action ?? ''}
            options={[['', 'Everything']]}
            change={(to) => change({ action: to || null })}
          >
            {GROUPS.map(([group, name, all]) => (
              <optgroup key={group} label={name}>
                <option value={group}>{all}</option>
                <OptionList of={AUDIT_GROUPS[group].map((one) => [one, EVENTS[one][0]])} />
              </optgroup>
            ))}
          </Filter>
          <Filter
            label="Who"
            of={actor ?? ''}
            options={[['', 'Anyone'], ...peopleOf(members.value?.data ?? [], actor)]}
            change={(to) => change({ actor: to || null })}
          >
            <optgroup label="Not members">
              <OptionList of={OTHERS} />
            </optgroup>
          </Filter>
          <KeyChoice of={key ?? ''} keys={newestKeys} change={(to) => change({ key: to || null })} />
          <DateFilter label="From" of={since} change={(to) => change({ since: to })} />
          <DateFilter label="To" of={until} change={(to) => change({ until: to })} />
          {count > 0 && <Button does={clear}>Clear filters</Button>}
        </Folded>
        <Problem failure={lost?.failure} again={() => lost?.again()} />
        <div
          class={`info ${csv.actions.length > 0 ? 'warning' : ''}`}
          id="csv-state"
          hidden={csv.message === undefined}
          // marks the page as unsaved, so that it is not reloaded if the session ends meanwhile
          data-unsaved={csv.isUnsaved ? '' : undefined}
        >
          <p>{csv.message}</p>
          <p class="buttons" id="csv-buttons">
            {csv.actions.map(({ text, does }) => (
              <Button key={text} does={does}>
                {text}
              </Button>
            ))}
            {csv.link && (
              <a class="button" href={csv.link.href} target="_blank">
                {csv.link.text}
              </a>
            )}
          </p>
        </div>
        <EventTable of={events} name="audit-title" none="No events match these filters." />
      </>,
      place,
    );
    if (hadFocus && document.activeElement === document.body) place.querySelector<HTMLElement>('[data-most]')?.focus();
  }

  draw();
  return {
    /** Shows the events that the address asks for. */
    async open(): Promise<void> {
      const valid = (name: keyof Chosen, isValid: (value: string) => boolean): string | null => {
        const value = chosen(name);
        return value !== null && isValid(value) ? value : null;
      };
      filters = {
        action: valid('action', (action) => ACTIONS.has(action)),
        actor: valid('actor', (actor) => actor.length <= 410),
        key: valid('key', (key) => UUID.test(key))?.toLowerCase() ?? null,
        since: valid('since', isDay),
        until: valid('until', isDay),
      };
      await Promise.all([read(), members.load(), newestKeys.load()]);
    },
    refresh: events.load,
  };
}

/** The filters as they are asked for: days are those of the browser, and the last one is included. */
function asked({ key, since, until, ...others }: Chosen): EventFilters {
  return {
    ...others,
    key_id: key,
    since: since === null ? null : startOf(since).toISOString(),
    until: until === null ? null : startOf(until, 1).toISOString(),
  };
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(startOf(text).getTime());

/** The members to choose from, with their ids if others have the same name, and who is chosen if that is nobody of these. */
function peopleOf(members: Answer<'members'>['data'], actor: string | null): Options {
  const isShared = (name: string): boolean => members.filter((other) => other.name === name).length > 1;
  const people = members.map(({ id, name }) => [`user:${id}`, isShared(name) ? `${name} (${id})` : name] as const);
  const isOther = actor !== null && [...people, ...OTHERS].every(([value]) => value !== actor);
  return isOther ? [...people, [actor, actor.replace(/^user:/, '')]] : people;
}

interface DateFilterProps {
  readonly label: string;
  /** YYYY-MM-DD. */
  readonly of: string | null;
  readonly change: (to: string | null) => void;
}

function DateFilter({ label, of: day, change }: DateFilterProps): JSX.Element {
  return (
    <label class="filter">
      {label}
      <input
        class="input"
        type="date"
        // without it, browsers take years of six digits
        max="9999-12-31"
        value={day ?? ''}
        onChange={({ currentTarget: { value } }) => change(isDay(value) ? value : null)}
      />
    </label>
  );
}
