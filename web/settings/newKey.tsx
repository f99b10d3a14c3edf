import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { GATEWAY } from '../base';
import { shortPath } from '../../src/organisations/requestName';
import { LANGUAGES, mcpConfiguration } from '../../src/pages/samples';
import { type Answer, call, type Key, settings } from './api';
import { Copyable, Sheet } from './dialog';
import { Ago, Segments, State } from './parts';
import { statusOf } from './requestDetails';
import { APIS } from './requestFilters';
import { exact } from './time';

/* A new key, shown once, and how to use it. */

export type NewKey = Answer<'make'> & Partial<Pick<Answer<'rotate'>, 'old'>>;

export function NewKeySheet({ key: value, api_key: newKey, old }: NewKey): JSX.Element {
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
      <Samples of={newKey} value={value} />
      <FirstRequest of={newKey.id} />
    </Sheet>
  );
}

/** Compares two times of the gateway, since this computer's clock may differ from its clock. */
function endOfOld({ expires_at }: Pick<Key, 'expires_at'>, { created_at: created }: Key): string {
  // a rotation always sets it
  const end = expires_at ?? created;
  if (Date.parse(end) <= Date.parse(created)) return 'Requests with the old key get 401 from now on.';
  return `The old key works until ${exact(end)}. After that, requests with it get 401.`;
}

/** What is said about a sample, by its name. */
const NOTES: Readonly<Record<string, string>> = {
  TypeScript: 'It reads the key from SCOPEGATE_KEY.',
  Python: 'It reads the key from SCOPEGATE_KEY.',
  '.env': 'Keep the file out of version control.',
  MCP: 'For clients of the Model Context Protocol that read a file, such as .mcp.json. Keep it out of version control, or write ${SCOPEGATE_KEY} in place of the key where your client replaces that by the environment’s.',
};

function Samples({ of: key, value }: { of: Key; value: string }): JSX.Element {
  // every key may call it
  const request = { method: 'GET', url: `${GATEWAY}/api/v1/me` };
  const samples = [
    // curl, which is pasted into a terminal at once
    ...LANGUAGES.map(({ name, write }) => [name, write(request).replace('$SCOPEGATE_KEY', value)] as const),
    ['.env', `SCOPEGATE_KEY=${value}`] as const,
    ...(key.mcp === 'off' ? [] : [['MCP', mcpConfiguration(GATEWAY, value)] as const]),
  ];
  const [chosen, choose] = useState('curl');
  const [, text = ''] = samples.find(([name]) => name === chosen) ?? [];
  return (
    <>
      <Segments
        name="sample"
        label="Try it with"
        of={chosen}
        options={samples.map(([name]) => [name, name])}
        change={choose}
      />
      <div key={chosen}>
        <Copyable name={`${chosen} sample`} text={text} />
        {NOTES[chosen] !== undefined && <p class="hint">{NOTES[chosen]}</p>}
      </div>
    </>
  );
}

type Request = Answer<'firstRequests'>['data'][number];

/** How often to look for a request of the new key, and for how long, in milliseconds. */
const [EVERY, AT_MOST] = [3000, 300_000];

// of a caller that has left, the status alone says that it got no answer
const isSuccess = ({ code, status }: Request): boolean => code === null && status < 400;

/** The first request of a key that succeeds, and until then the newest that failed: looks for five minutes, and then once more. */
function FirstRequest({ of: id }: { of: string }): JSX.Element | null {
  const [request, setRequest] = useState<Request>();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    if (!settings.storesRequests) return;
    const end = performance.now() + AT_MOST;
    let timer: number | undefined;
    let isShown = true;
    const look = async (): Promise<void> => {
      const isLast = performance.now() > end;
      const read = document.hidden ? undefined : await call('firstRequests', { key_id: id }).catch(() => undefined);
      const success = read?.data.findLast(isSuccess);
      setRequest((before) => success ?? read?.data[0] ?? before);
      // not while the page is hidden: nobody has looked then
      if (success || (isLast && read)) setOver(true);
      else if (isShown) timer = setTimeout(() => void look(), EVERY);
    };
    timer = setTimeout(() => void look(), EVERY);
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, []);
  if (!settings.storesRequests) return null;
  return (
    <p class="first-request">
      <span role="status">
        {request ? <Received request={request} /> : isOver ? 'No request yet.' : 'Waiting for the first request…'}
      </span>
      {request && (
        <>
          , <Ago at={request.at} />
        </>
      )}
    </p>
  );
}

function Received({ request }: { request: Request }): JSX.Element {
  const { face, method, path, operation, code, missing_scope: missing } = request;
  const what = face === 'rest' ? `${method} ${shortPath(path)}` : `${APIS[face]} ${operation ?? ''}`;
  return isSuccess(request) ? (
    <>
      First request: <State of="succeeded" words={String(statusOf(request))} /> <code>{what}</code>
    </>
  ) : (
    <>
      Request: <State of="failed" words={String(statusOf(request))} />{' '}
      {missing === null ? code : `missing scope ${missing}`}
    </>
  );
}
