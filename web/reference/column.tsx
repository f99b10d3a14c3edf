import { type JSX, render } from 'preact';
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { tokensOf } from '../../src/pages/tokens';
import { copy } from '../copy';
import { askForKey, knownKey } from '../key.js';
import { LANGUAGES, newUuid } from '../samples.js';
import { agrees } from './ask';
import { type Entered, isExample, requestOf } from './request';
import type { Operation, Place, System } from './system';

interface ParametersProps {
  readonly operation: Place['operation'];
  readonly pathMethod: readonly [path: string, method: string];
}

/**
 * A plugin of Swagger UI that puts a column beside the text of each operation: the request as code to copy, the button that sends it, and the
 * answer. They replace Swagger's own, whose curl command has the key in it.
 */
export const requestColumn = (system: System): object => {
  const { createElement, Fragment, useEffect: useReactEffect, useRef: useReactRef } = system.React;
  const nothing = () => () => null;
  return {
    wrapComponents: {
      ...{ execute: nothing, clear: nothing, liveResponse: nothing, curl: nothing, ParameterIncludeEmpty: nothing },
      parameters: (Original: unknown) =>
        function Parameters(props: ParametersProps) {
          const { operation, pathMethod } = props;
          const [path, method] = pathMethod;
          const place = useReactRef<Element | null>(null);
          useReactEffect(() => {
            const { current: root } = place;
            if (root) render(<Column {...{ system, operation, path, method }} />, root);
            return () => root && render(null, root);
          }, []);
          const column = createElement('div', { ref: place, className: 'column' });
          return createElement(Fragment, null, createElement(Original, props), column);
        },
    },
  };
};

type Language = (typeof LANGUAGES)[number];

/** The language that was chosen last, for all operations. */
let [chosen] = LANGUAGES as [Language, ...Language[]];

function Column(place: Place): JSX.Element {
  const { operation, path, method } = place;
  const entered = useEntered(place);
  const document = operation.toJS() as Operation;
  const { request, lacking, isRetried } = requestOf(document, path, method, entered);
  return (
    <section aria-label={`Request ${method.toUpperCase()} ${path}`}>
      <Sample {...{ request, isRetried }} />
      <Sending {...{ ...place, lacking, isExample: isExample(document, method, entered.body) }} />
    </section>
  );
}

/** The fields' values; redraws only on a change, since every open operation listens. */
function useEntered({ system, path, method }: Place): Entered {
  const { specSelectors, oas3Selectors, getStore } = system;
  const read = (): string =>
    JSON.stringify({
      parameters: specSelectors.parameterValues([path, method]),
      body: oas3Selectors.requestBodyValue(path, method),
    });
  const [entered, setEntered] = useState(read);
  useEffect(() => {
    const look = (): void => setEntered(read());
    // the fields may have been filled meanwhile
    look();
    return getStore().subscribe(look);
  }, []);
  return JSON.parse(entered) as Entered;
}

function Sample({ request, isRetried }: Pick<ReturnType<typeof requestOf>, 'request' | 'isRetried'>): JSX.Element {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  // reusing an Idempotency-Key for another request is refused, and a sample that is copied again is meant to run again
  const idempotency = useRef({ content: '', key: '' });
  const content = JSON.stringify(request);
  if (idempotency.current.content !== content) idempotency.current = { content, key: newUuid() };
  const write = (): string => chosen.write({ ...request, fresh: isRetried ? idempotency.current.key : undefined });
  const languages = LANGUAGES.map((language) => (
    <button
      type="button"
      class="button"
      aria-pressed={language === chosen}
      onClick={() => {
        chosen = language;
        draw(undefined);
      }}
    >
      {language.name}
    </button>
  ));
  const fresh = (): string => {
    idempotency.current.key = newUuid();
    draw(undefined);
    return write();
  };
  return <Code head={languages} label="Sample" text={write()} copied={fresh} />;
}

/** Code with a bar above it; `copied` is what Copy copies in place of `text`. */
function Code(props: {
  head: JSX.Element | JSX.Element[];
  label: string;
  text: string;
  copied?: () => string;
}): JSX.Element {
  const { head, label, text, copied = () => text } = props;
  const code = useRef<HTMLPreElement>(null);
  return (
    <div class="code">
      <div class="code-bar">
        <span>{head}</span>
        <button
          type="button"
          class="button"
          data-copy
          onClick={({ currentTarget }) => void copy(currentTarget, copied(), () => code.current ?? currentTarget)}
        >
          Copy
        </button>
      </div>
      <pre ref={code} tabIndex={0} role="group" aria-label={label}>
        {highlighted(text)}
      </pre>
    </div>
  );
}

/** Longer texts would need too many elements. */
const MOST_HIGHLIGHTED = 50_000;

function highlighted(text: string): JSX.Element[] | string {
  if (text.length > MOST_HIGHLIGHTED) return text;
  return tokensOf(text).map((token) => <span class={token.kind}>{token.text}</span>);
}

interface Answer {
  readonly status?: number;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then send this again.';

function Sending(place: Place & { lacking: readonly string[]; isExample: boolean }): JSX.Element {
  const { system, operation, path, method, lacking } = place;
  const { specActions, specSelectors } = system;
  const [note, say] = useState('');
  const [isSending, setSending] = useState(false);
  const isBusy = useRef(false);
  const [ms, setMs] = useState<number>();
  const presses = useRef(0);
  const form = useRef<HTMLDivElement>(null);
  const isReady = (): boolean => {
    specActions.validateParams([path, method]);
    if (specSelectors.validateBeforeExecute([path, method])) return true;
    const [name] = lacking;
    say(name ? '' : 'A field is invalid.');
    const row = name ? `[data-param-name="${name}"]` : '.parameters';
    form.current?.closest('.opblock')?.querySelector<HTMLElement>(`${row} :is(input, select)`)?.focus();
    return false;
  };
  const send = async (): Promise<void> => {
    if (isBusy.current || !isReady()) return;
    // of several presses while the key is looked up the last one counts
    presses.current += 1;
    const press = presses.current;
    const { key } = await knownKey();
    if (press !== presses.current) return;
    if (!key) say('Waiting for your API key above.');
    const isKnown = Boolean(key) || (await askForKey());
    say('');
    if (!isKnown || (place.isExample && !(await agrees(method, path)))) return;
    isBusy.current = true;
    setSending(true);
    const start = performance.now();
    await specActions.execute({ operation, path, method });
    setMs(performance.now() - start);
    isBusy.current = false;
    setSending(false);
  };
  const missing = lacking.length > 0 ? `Enter ${lacking.join(' and ')} first.` : '';
  const answer = specSelectors.responseFor(path, method)?.toJS() as Answer | undefined;
  return (
    <>
      <div class="send" ref={form}>
        <button type="button" class="button primary" aria-disabled={isSending} onClick={() => void send()}>
          Send request
        </button>
        <output>{isSending ? 'Sending…' : note || missing}</output>
      </div>
      {answer && <Answered {...{ answer, ms, isOld: isSending }} />}
    </>
  );
}

function Answered({ answer, ms, isOld }: { answer: Answer; ms: number | undefined; isOld: boolean }): JSX.Element {
  const { status, text = '', headers = {} } = answer;
  if (status === undefined) return <p class="answer bad">{UNREACHABLE}</p>;
  const time = ms === undefined ? '' : ` in ${String(Math.round(ms))} ms`;
  const head = <span class={status < 400 ? 'good' : 'bad'}>{`HTTP ${String(status)}${time}`}</span>;
  return (
    <div class="answer" aria-busy={isOld}>
      {isOld && <p>Previous answer</p>}
      <Code head={head} label="Answer" text={indented(text) || 'No content'} />
      <details>
        <summary>{Object.keys(headers).length} headers</summary>
        <pre tabIndex={0} role="group" aria-label="Headers">
          {Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)}
        </pre>
      </details>
    </div>
  );
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
