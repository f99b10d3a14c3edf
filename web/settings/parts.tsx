import { Component, type ComponentChildren, createRef, type JSX } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { type Failure, now } from './api';
import { focused, moveFocus } from './dialog';
import { LinkTo } from './notices';
import { exact, relative } from './time';

/* Components that several pages use. */

/** How often relative times are brought up to date, in milliseconds. */
const EVERY = 5000;

/** What is due in less than this many milliseconds is due. */
const NEARLY = 10_000;

/** A relative time with the exact one as its tooltip; `past` replaces it once it is due. */
export function Ago(props: { at: string | null; otherwise?: string; past?: string }): JSX.Element {
  const { at, otherwise = '', past } = props;
  const [, tick] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, EVERY);
    return () => clearInterval(timer);
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

interface HeadingProps {
  /** Id of the title, which names the section and its table. */
  readonly id: string;
  readonly title: ComponentChildren;
  readonly as?: 'h1' | 'h2';
  /** What is beside it. */
  readonly children?: ComponentChildren;
}

/** The title of a page, or of a part of one, which can have the focus. */
export function Heading({ id, title, as: Title = 'h1', children }: HeadingProps): JSX.Element {
  return (
    <div class="heading">
      <Title id={id} tabIndex={-1}>
        {title}
      </Title>
      {children}
    </div>
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
    <div class="alert" role="alert" hidden={!failure} data-code={failure?.code} ref={place}>
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

interface ChoiceProps {
  readonly label: string;
  /** The chosen value. */
  readonly of: string;
  readonly options: Options;
  readonly change: (to: string) => void;
}

interface FilterProps extends ChoiceProps {
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

interface OutdatedProps {
  /** Whether it was read for a choice that was changed since. */
  readonly is: boolean;
  readonly isBusy: boolean;
  readonly children: ComponentChildren;
}

/** What was read: dimmed while another choice is read, and gone if that fails, since it would be taken for the answer. */
export function Outdated({ is: isOutdated, isBusy, children }: OutdatedProps): JSX.Element | null {
  if (isOutdated && !isBusy) return null;
  return (
    <div class={isOutdated ? 'outdated' : undefined} aria-busy={isOutdated}>
      {children}
    </div>
  );
}

interface SegmentsProps extends ChoiceProps {
  /** Name of the group of radio buttons, unique in the document. */
  readonly name: string;
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

/** What is shown where there is nothing yet: sentences, and a button that leads on. */
export function Empty({ icon, children }: { icon?: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="card empty">
      {icon !== undefined && <Icon name={icon} />}
      {typeof children === 'string' ? <p>{children}</p> : children}
    </div>
  );
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
    moveFocus(
      near ?? this.place.current?.closest('section:not([hidden])')?.querySelector<HTMLElement>('[tabindex="-1"]'),
    );
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
  /** Unique in the document; that of `useId` is so only within one page. */
  readonly id: string;
  /** How many of the filters are set. */
  readonly count: number;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** Filters that narrow screens show only once a button was pressed. */
export function Folded({ id, count, class: name, children }: FoldedProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
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

export type FactList = readonly (readonly [name: string, value: ComponentChildren])[];

export function Facts({ of: facts }: { of: FactList }): JSX.Element {
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
