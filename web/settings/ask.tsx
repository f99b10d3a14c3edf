import { createContext, type HTMLAttributes, type JSX } from 'preact';
import { useContext } from 'preact/hooks';
import { Failure, failureOf, reason, sentence, settled } from './api';
import { close, isOpen, open, redraw, type Shown } from './dialog';
import { failureNotice, Notice } from './notices';
import { say } from './page';
import { OptionList, type Options, Problem } from './parts';

/* Dialogs that confirm a change, and their fields. If somebody else has made a change too, or an answer was lost, the page is read again. */

/** What is said, or done, once the dialog is closed. */
export type Next = string | (() => void) | undefined;

export interface Question {
  readonly title: string;
  /** Label of the main button. */
  readonly button: string;
  readonly isDangerous?: boolean;
  readonly Body: () => JSX.Element;
  /**
   * Makes the change with what was entered. Goes on if the dialog is closed meanwhile, and does not run again before it has ended. If it fails, the
   * dialog stays open and shows why: at the fields, if the first part of each fault's pointer names one.
   */
  readonly work: (entered: FormData) => Promise<Next>;
  /** Id of what is changed, since its name may be another's, too; undefined for what is made. */
  readonly of?: string | undefined;
  /** Text of the notice if the dialog is closed while the work runs. While it runs, none with the same text begins for the same `of`. */
  readonly doing: (entered: FormData) => string;
  /** Whether the browser asks before the page is left meanwhile: for work that ends with a secret. */
  readonly asks?: boolean;
  /** What remains uncertain if the gateway may have made the change although the work failed. */
  readonly doubt?: string;
  /** Called if the page may be out of date: after the change, after a failure, and then again when the dialog closes. */
  readonly changed?: () => void;
  /** Runs before the main button is offered. If it resolves with something, the dialog closes, and that is said or done instead. */
  readonly prepare?: () => Promise<Next>;
}

/** After how long a dialog says that it is still waiting, in milliseconds. */
const SLOW = 4000;
/** What is being done now: the words of its notices, and the ids of what is changed. */
const running = new Set<string>();

class Asking {
  isRunning = false;
  isReady = true;
  cannotRetry = false;
  /** Prepares again, after it failed. */
  prepareAgain: (() => unknown) | undefined;
  failure: Failure | undefined;
  status = '';
  /** What is wrong, by argument. */
  readonly faults = new Map<string, string>();
  readonly dialog: Shown;
  #isStale = false;
  #doing = '';
  #notice: Notice | undefined;

  constructor(readonly question: Question) {
    this.dialog = { Content: () => <Form of={this} />, closed: () => this.#closed() };
    open(this.dialog);
    if (question.prepare) void this.#prepare(question.prepare);
  }

  get isUnsaved(): boolean {
    return this.question.asks === true && this.isRunning;
  }

  async #prepare(work: () => Promise<Next>): Promise<void> {
    this.isReady = false;
    this.failure = undefined;
    this.prepareAgain = () => this.#prepare(work);
    this.status = 'Reading the current state…';
    redraw();
    const next = await work().catch(failureOf);
    if (!isOpen(this.dialog)) return;
    this.status = '';
    if (next instanceof Failure) this.failure = next;
    else if (next === undefined) {
      this.isReady = true;
      this.prepareAgain = undefined;
    } else this.#end(next);
    redraw();
  }

  async press(form: HTMLFormElement): Promise<void> {
    if (this.isRunning || !this.isReady || this.cannotRetry || !form.reportValidity()) return;
    const entered = new FormData(form);
    const doing = this.question.doing(entered);
    const work = `${doing} ${this.question.of ?? ''}`;
    if (running.has(work)) {
      this.failure = new Failure('This is being done already. Wait for its outcome.', { code: 'conflict' });
      redraw();
      return;
    }
    this.#doing = doing;
    this.failure = undefined;
    this.faults.clear();
    this.isRunning = true;
    running.add(work);
    redraw();
    const timer = setTimeout(() => {
      this.status = 'The gateway is slow; still waiting.';
      redraw();
    }, SLOW);
    const [next, failure] = await settled(this.question.work(entered));
    clearTimeout(timer);
    running.delete(work);
    this.isRunning = false;
    this.status = '';
    if (failure) {
      this.#fail(failure, form);
      return;
    }
    this.#notice?.remove();
    this.#end(next);
    this.question.changed?.();
  }

  #end(next: Next): void {
    if (isOpen(this.dialog)) close();
    if (typeof next === 'string') say(next);
    else next?.();
  }

  /** Clears a fault once its field is changed. */
  correct(field: EventTarget | null): void {
    const { field: argument = '' } = (field as HTMLElement).closest<HTMLElement>('[data-field]')?.dataset ?? {};
    // not before the `change` event, during which a ticked box must keep its new state
    if (this.faults.delete(argument)) setTimeout(redraw);
  }

  #fail(failure: Failure, form: HTMLFormElement): void {
    const { changed, doubt } = this.question;
    if (failure.isUnsure || isEnded(failure)) {
      this.#isStale = true;
      changed?.();
    }
    const { code, link, faults } = failure;
    const shownFailure =
      doubt !== undefined && failure.isUnsure
        ? new Failure(`${reason(failure)} ${doubt}`, { code, link, faults })
        : failure;
    if (this.#notice) failureNotice(shownFailure, this.#notice);
    if (!isOpen(this.dialog) || this.#placeFaults(shownFailure, form)) return;
    this.failure = shownFailure;
    this.cannotRetry = isEnded(shownFailure);
    redraw();
    const field = form.querySelector(':focus');
    const [cancel, main] = form.querySelectorAll<HTMLElement>('.foot .buttons button');
    if (!field || this.cannotRetry || field.matches(':disabled')) (main ?? cancel)?.focus();
  }

  #placeFaults({ faults }: Failure, form: HTMLFormElement): boolean {
    const placed = faults.map(({ pointer, detail }) => ({ name: pointer.split('/')[1] ?? '', text: sentence(detail) }));
    const hasPlace = ({ name }: { name: string }): boolean =>
      form.querySelector(`[data-field="${CSS.escape(name)}"]`) !== null;
    if (placed.length === 0 || !placed.every(hasPlace)) return false;
    for (const { name, text } of placed) this.faults.set(name, `${this.faults.get(name) ?? ''} ${text}`.trim());
    redraw();
    const first = form.querySelector<HTMLElement>('[aria-invalid]');
    const field = first?.querySelector<HTMLElement>('input:checked') ?? first?.querySelector('input') ?? first;
    const folded = field?.closest('details');
    if (folded) folded.open = true;
    field?.focus();
    return true;
  }

  #closed(): void {
    const { asks = false, changed } = this.question;
    if (this.isRunning) this.#notice = new Notice({ text: this.#doing, asks });
    else if (this.#isStale) changed?.();
  }
}

export function ask(question: Question): void {
  new Asking(question);
}

/** Whether a change was refused because its object has ended or does not exist, which makes a retry pointless. */
function isEnded({ code, faults }: Failure): boolean {
  return code === 'not_found' || faults.some(({ pointer }) => pointer === '/key_id');
}

const Faults = createContext<ReadonlyMap<string, string>>(new Map());

function Form({ of: asking }: { of: Asking }): JSX.Element {
  const { title, button, isDangerous, Body } = asking.question;
  return (
    <form
      noValidate
      data-unsaved={asking.isUnsaved ? 'asks' : undefined}
      onInput={({ target }) => asking.correct(target)}
      onSubmit={(event) => {
        event.preventDefault();
        void asking.press(event.currentTarget);
      }}
    >
      <h2 id="dialog-title">{title}</h2>
      <Faults.Provider value={asking.faults}>
        <Body />
      </Faults.Provider>
      <div class="foot">
        <Problem failure={asking.failure} again={asking.prepareAgain} />
        <p class="hint" role="status">
          {asking.status}
        </p>
        <p class="buttons">
          <button class="button" type="button" onClick={close}>
            Cancel
          </button>
          {asking.isReady && !asking.cannotRetry && (
            <button
              class={`button ${isDangerous ? 'danger' : 'primary'}`}
              type="submit"
              // a disabled button would lose the focus
              aria-disabled={asking.isRunning}
            >
              {button}
            </button>
          )}
        </p>
      </div>
    </form>
  );
}

/** The fault of an argument: the element that shows it, and the attributes that tie a control to it. */
export function useFault(argument: string) {
  const text = useContext(Faults).get(argument);
  const id = `fault-${argument}`;
  return {
    place: (
      <p class="fault" id={id} hidden={text === undefined}>
        {text}
      </p>
    ),
    described: { 'aria-invalid': text === undefined ? undefined : ('true' as const), 'aria-describedby': id },
  };
}

interface FieldProps extends Pick<HTMLAttributes<HTMLInputElement>, 'autofocus' | 'spellcheck' | 'inputMode'> {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isTime?: boolean;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly placeholder?: string;
  readonly defaultValue: string;
}

/** A text field; `name` is the argument's name. */
export function Field({ label, hint, isTime = false, ...rest }: FieldProps): JSX.Element {
  const { place, described } = useFault(rest.name);
  const [id, hintId] = [`field-${rest.name}`, `hint-${rest.name}`];
  const description = `${hint === undefined ? '' : `${hintId} `}${described['aria-describedby']}`;
  const input = { ...rest, id, ...described, 'aria-describedby': description };
  return (
    <div class="field" data-field={rest.name}>
      <label for={id}>{label}</label>
      {isTime ? <input type="datetime-local" {...input} /> : <input type="text" autoComplete="off" {...input} />}
      {place}
      {hint !== undefined && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A choice; `first` is selected at first. */
export function Choice(props: { label: string; name: string; options: Options; first: string }): JSX.Element {
  return (
    <label class="field">
      {props.label}
      <select name={props.name}>
        <OptionList of={props.options} first={props.first} />
      </select>
    </label>
  );
}
