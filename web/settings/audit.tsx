import { render } from 'preact';
import { type Answer, callOf } from './api';
import { Csv, type EventFilters } from './csv';
import { EventTable } from './events';
import { KeyChoice, readChoice } from './keyNames';
import { List } from './list';
import { Button, Filter, type Options } from './parts';
import { choose, chosen, placeOf } from './route';
import { EVENTS } from './sentences';

/* The audit log. Its filters are in the address. */

const call = callOf('audit');
/** The most events that a file can have; the browser holds them in memory while it is made. */
const MOST = 50_000;
const ACTIONS: Options = [
  ['', 'everything'],
  ...Object.entries(EVENTS).map(([action, [words]]) => [action, words] as const),
];
const UUID = /^[0-9a-f-]{36}$/i;

export function auditPage() {
  const place = placeOf('audit');
  let filters: EventFilters = { action: null, key_id: null };
  const events = new List<Answer<'events'>>((cursor) => call('events', { ...filters, cursor }), draw);
  const csv = new Csv(draw);

  function change(changes: Partial<EventFilters>): void {
    filters = { ...filters, ...changes };
    choose({ action: filters.action, key: filters.key_id });
    void events.load();
  }

  function draw(): void {
    const { action, key_id: key } = filters;
    // the focused button may disappear
    const hadFocus = place.querySelector('#csv-buttons')?.contains(document.activeElement) === true;
    render(
      <>
        <div class="heading">
          <h1 id="audit-title" tabIndex={-1}>
            Audit log
          </h1>
          <Filter label="What" of={action ?? ''} options={ACTIONS} change={(to) => change({ action: to || null })} />
          <KeyChoice of={key} change={(to) => change({ key_id: to })} />
          <button
            class="button"
            type="button"
            data-most={MOST}
            onClick={({ currentTarget }) => csv.press(filters, Number(currentTarget.dataset.most))}
          >
            {csv.isReading ? 'Stop' : 'Download CSV'}
          </button>
        </div>
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
        <EventTable of={events} name="audit-title" none="No matching events." />
      </>,
      place,
    );
    if (hadFocus && document.activeElement === document.body) place.querySelector<HTMLElement>('[data-most]')?.focus();
  }

  draw();
  return {
    /** Shows the events that the address asks for. */
    async open(): Promise<void> {
      const [action, key] = [chosen('action'), chosen('key')];
      filters = {
        action: action !== null && action in EVENTS ? action : null,
        key_id: key !== null && UUID.test(key) ? key.toLowerCase() : null,
      };
      await Promise.all([events.load(), readChoice(call, filters.key_id, draw)]);
    },
    refresh: events.load,
  };
}
