import { Component, type ComponentChildren, createRef, type JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { type Failure, now } from './api';
import { focused, moveFocus } from './dialog';
import type { List, Page } from './list';
import { LinkTo } from './notices';
import { exact, relative } from './time';

/* Components that several pages use. */

/** How often relative times are brought up to date, in milliseconds. */
const EVERY = 5000;
const shown = new Set<() => void>();
setInterval(() => {
  for (const tick of shown) tick();
}, EVERY);

/** What is due in less than this many milliseconds is due. */
const NEARLY = 10_000;

/** A relative time with the exact one as its tooltip; `past` replaces it once it is due. */
export function Ago(props: { at: string | null; otherwise?: string; past?: string }): JSX.Element {
  const { at, otherwise = '', past } = props;
  const [, tick] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => {
    const onTick = (): void => tick(undefined);
    shown.add(onTick);
    return () => shown.delete(onTick);
  }, []);
  if (at === null) return <>{otherwise}</>;
  if (past !== undefined && Date.parse(at) <= now() + NEARLY) return <>{past}</>;
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at)}
    </time>
  );
}

/** An icon of web/icons.svg. */
export function Icon({ name }: { name: string }): JSX.Element {
  return (
    <svg class="icon" aria-hidden="true">
      <use href={`#icon-${name}`} />
    </svg>
  );
}

/** A state as a pill; style sheets colour it by its name. */
export function State({ of: state, words = state }: { of: string; words?: string }): JSX.Element {
  return <span class={`state ${state}`}>{words}</span>;
}

export function Chips({ of: texts }: { of: readonly string[] }): JSX.Element {
  return (
    <ul class="chips">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** A cell labelled with its column, for narrow screens, where rows are shown as cards. */
export function Cell(props: { label: string; class?: string; children: ComponentChildren }): JSX.Element {
  return (
    <td data-label={props.label} class={props.class}>
      <div>{props.children}</div>
    </td>
  );
}

export function Head({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    <th scope="row" data-label={label}>
      <div>{children}</div>
    </th>
  );
}

/** A table's column names; those of buttons and checkboxes are for screen readers only. */
export function HeadRow({ columns }: { columns: readonly string[] }): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map((name) => (
          <th scope="col" key={name}>
            {name === 'Actions' || name === 'Select' ? <span class="unseen">{name}</span> : name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Why something failed; with `again`, a button that tries again, if that can help. */
export function Problem({ failure, again }: { failure: Failure | undefined; again?: () => unknown }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const hadFocus = place.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (!hadFocus || place.current?.contains(document.activeElement)) return;
    const title = place.current?.closest('section')?.querySelector<HTMLElement>('h1, h2');
    (place.current?.querySelector('button') ?? title)?.focus();
  });
  return (
    <div class="alert" role="alert" hidden={!failure} ref={place}>
      {failure?.message} {failure?.link && <LinkTo {...failure.link} />}
      {failure?.button && <Button does={failure.button.does}>{failure.button.text}</Button>}
      {again && failure?.remedy === 'again' && <Button does={again}>Try again</Button>}
      {again && failure?.remedy === 'reload' && <Button does={() => location.reload()}>Reload</Button>}
    </div>
  );
}

interface ButtonProps {
  readonly does: () => unknown;
  readonly class?: string;
  readonly label?: string;
  readonly isBusy?: boolean;
  readonly children: ComponentChildren;
}

/** While busy, the button is not disabled, since it would lose the focus. */
export function Button({ does, class: more = '', label, isBusy, children }: ButtonProps): JSX.Element {
  return (
    <button
      class={`button ${more}`}
      type="button"
      aria-label={label}
      aria-disabled={isBusy}
      onClick={() => {
        if (!isBusy) void does();
      }}
    >
      {children}
    </button>
  );
}

export type Options = readonly (readonly [value: string, words: string])[];

interface FilterProps {
  readonly label: string;
  /** The chosen value. */
  readonly of: string;
  readonly options: Options;
  readonly change: (to: string) => void;
  /** What comes after the options. */
  readonly children?: ComponentChildren;
}

/** A choice that narrows a list. */
export function Filter({ label, of: chosen, options, change, children }: FilterProps): JSX.Element {
  return (
    <label class="filter">
      {label}
      <select value={chosen} onChange={({ currentTarget }) => change(currentTarget.value)}>
        <OptionList of={options} />
        {children}
      </select>
    </label>
  );
}

interface SegmentsProps {
  /** Name of the group of radio buttons, unique in the document. */
  readonly name: string;
  readonly label: string;
  /** The chosen value. */
  readonly of: string;
  readonly options: Options;
  readonly change: (to: string) => void;
}

/** A choice among a few, all of which are in sight. */
export function Segments({ name, label, of: chosen, options, change }: SegmentsProps): JSX.Element {
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {options.map(([value, words]) => (
        <label key={value}>
          <input type="radio" name={name} value={value} checked={value === chosen} onChange={() => change(value)} />
          {words}
        </label>
      ))}
    </fieldset>
  );
}

/** `first` is preselected. */
export function OptionList({ of: options, first }: { of: Options; first?: string | undefined }): JSX.Element {
  return (
    <>
      {options.map(([value, words]) => (
        <option key={value} value={value} selected={first === undefined ? undefined : value === first}>
          {words}
        </option>
      ))}
    </>
  );
}

interface TableProps {
  readonly of: Pick<List<Page>, 'value' | 'rows' | 'cursor' | 'isBusy' | 'failure' | 'again' | 'more'>;
  readonly class: string;
  /** Id of the heading. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Shown instead of an empty list: what there would be, or how to find it. */
  readonly none: ComponentChildren;
  /** Label of the button that reads more. */
  readonly more?: string;
  readonly children: ComponentChildren;
}

/** A list in each of its states: loading, failed, empty, or with rows and a button for more. */
export function Table({ of: list, columns, ...props }: TableProps): JSX.Element {
  const place = useRef<HTMLTableSectionElement>(null);
  const isEmpty = list.value !== undefined && list.rows.length === 0;
  const isComing = list.value === undefined && list.isBusy;
  const more = async (): Promise<void> => {
    const before = list.rows.length;
    await list.more();
    if (list.rows.length > before) focusRow(place.current?.querySelectorAll('tr:has(> th)')[before]);
  };
  return (
    <>
      <Problem failure={list.failure} again={list.again} />
      <KeepsFocus class="card" isHidden={!isComing && list.rows.length === 0}>
        <table class={`rows ${props.class}`} aria-labelledby={props.name} aria-busy={list.isBusy}>
          <HeadRow columns={columns} />
          <tbody ref={place}>
            {isComing ? SKELETON.map((at) => <SkeletonRow key={at} width={columns.length} />) : props.children}
          </tbody>
        </table>
      </KeepsFocus>
      {isEmpty && <Empty>{props.none}</Empty>}
      {list.cursor !== null && (
        <Button class="more" does={more} isBusy={list.isBusy}>
          {props.more}
        </Button>
      )}
    </>
  );
}

/** What is shown where there is nothing yet: sentences, and a button that leads on. */
export function Empty({ icon, children }: { icon?: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="card empty">
      {icon !== undefined && <Icon name={icon} />}
      {typeof children === 'string' ? <p>{children}</p> : children}
    </div>
  );
}

const SKELETON = [0, 1, 2, 3, 4];

function SkeletonRow({ width }: { width: number }): JSX.Element {
  return (
    <tr class="skeleton" aria-hidden="true">
      {Array.from({ length: width }, (_, at) => (
        <td key={at}>
          <span />
        </td>
      ))}
    </tr>
  );
}

/** The button that read more may be gone, so the focus moves to the first new row, or to the first link or button in it. */
function focusRow(row: Element | undefined): void {
  const control = row?.querySelector<HTMLElement>('a[href], button');
  if (!control) row?.setAttribute('tabindex', '-1');
  (control ?? (row as HTMLElement | undefined))?.focus();
}

interface Before {
  readonly element: HTMLElement;
  /** The rows that it was in, and the index of its row. */
  readonly rows: Element | null;
  readonly at: number;
}

/** Moves the focus of an element that disappears to the row in its place, or to the heading: now, or when the dialog closes. */
export class KeepsFocus extends Component<{ class?: string; isHidden?: boolean; children: ComponentChildren }> {
  place = createRef<HTMLDivElement>();

  override getSnapshotBeforeUpdate(): Before | null {
    const element = focused();
    if (!element || !this.place.current?.contains(element)) return null;
    const rows = [...(element.closest('tbody')?.children ?? [])];
    return { element, rows: element.closest('tbody'), at: rows.findIndex((row) => row.contains(element)) };
  }

  override componentDidUpdate(_props: unknown, _state: unknown, before: Before | null): void {
    if (!before || before.element.isConnected) return;
    const row = before.rows?.children[before.at] ?? before.rows?.lastElementChild;
    const near = row?.querySelector<HTMLElement>('td:last-child button');
    moveFocus(near ?? this.place.current?.closest('section')?.querySelector<HTMLElement>('[tabindex="-1"]'));
  }

  override render(): JSX.Element {
    const { class: name, isHidden, children } = this.props;
    return (
      <div class={name} hidden={isHidden} ref={this.place}>
        {children}
      </div>
    );
  }
}

interface FoldedProps {
  /** How many of the filters are set. */
  readonly count: number;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** Filters that narrow screens show only once a button was pressed. */
export function Folded({ count, class: name, children }: FoldedProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button
        class="button unfold"
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="funnel" /> Filters{count > 0 && ` (${count})`}
      </button>
      <div class={`${name} ${isOpen ? '' : 'folded'}`} id={id}>
        {children}
      </div>
    </>
  );
}

export function Facts({ of: facts }: { of: readonly (readonly [string, ComponentChildren])[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
