import type { ComponentChildren, JSX } from 'preact';
import { AddScope } from './addScope';
import { type Answer, settings } from './api';
import { Copyable } from './dialog';
import { KeyLink } from './keyNames';
import { count } from './numbers';
import { Ago, Facts, State } from './parts';
import { APIS } from './requestFilters';
import { Cell, Head, HeadRow } from './table';
import { exact, length } from './time';

/* The details of a logged request. */

export type Request = Answer<'requests'>['data'][number];

/** The status of a request whose caller disconnected before the answer. */
const LEFT = 499;

/** The status of the error, even if GraphQL or MCP answered it with 200. */
export const statusOf = ({ status, code }: Pick<Request, 'status' | 'code'>): number =>
  (status === 200 ? settings.statuses[code ?? ''] : undefined) ?? status;

export function Status({ of: request }: { of: Request }): JSX.Element {
  const status = statusOf(request);
  const isFailed = request.code !== null || (status >= 400 && status !== LEFT) || (request.elements_failed ?? 0) > 0;
  return <State of={isFailed ? 'failed' : status === LEFT ? '' : 'succeeded'} words={String(status)} />;
}

/** What went wrong, in a few words. */
export function Outcome({ of: request }: { of: Request }): JSX.Element | null {
  const { code, missing_scope: missing, status } = request;
  if (status === LEFT) return <span class="quiet">Caller disconnected</span>;
  if (code === null && request.elements_failed) return <span class="bad">{failures(request)}</span>;
  return code === null ? null : <span class="bad">{missing === null ? code : `Missing scope ${missing}`}</span>;
}

/** How many elements of its bulk calls failed. */
const failures = ({ elements, elements_failed: failed }: Pick<Request, 'elements' | 'elements_failed'>): string =>
  `${count(failed)} of ${count(elements)} failed`;

/** Why a key was refused. */
const REFUSALS = {
  revoked: 'The key is revoked',
  expired: 'The key has expired',
  address: 'The key does not allow this address',
};

export function Details({ of: request }: { of: Request }): JSX.Element {
  const { at, key_id: key, method, path, operation, face, code, reason, status, ms, address } = request;
  const { missing_scope: missing } = request;
  const own = statusOf(request);
  const facts: (readonly [string, ComponentChildren])[] = [
    ['Status', status === LEFT ? `${LEFT}: the caller disconnected before the answer` : `HTTP ${own}`],
    ['Request', <code>{`${method} ${path}`}</code>],
    ['Operation', operation === null ? 'Not known: it failed before' : <code>{operation}</code>],
    ['API', APIS[face]],
    [
      'Time',
      <>
        <Ago at={at} /> <span class="quiet">{exact(at)}</span>
      </>,
    ],
    ['Duration', length(ms)],
  ];
  if (code !== null)
    facts.push([
      'Error code',
      <a href={`/errors/${code}`}>
        <code>{code}</code>
      </a>,
    ]);
  if (request.elements !== null) facts.push(['Elements', failures(request)]);
  if (own !== status) facts.push(['Answered with', `HTTP ${status}, as ${APIS[face]} answers errors`]);
  if (missing !== null)
    facts.push([
      'Missing scope',
      <>
        {missing} <AddScope keyId={key} scope={missing} />
      </>,
    ]);
  if (reason !== null) facts.push(['Key refused', REFUSALS[reason]]);
  facts.push(['IP address', address], ['Key', <KeyLink id={key} hasLastFour />]);
  return (
    <>
      <Copyable name="Request id" text={request.request_id} />
      <p class="hint">The request id, as in the answer’s header X-Request-Id and in the gateway’s log.</p>
      <Facts of={facts} />
    </>
  );
}

/** How often each key made requests with one error code. */
export function CountsByKey({ of: { data }, code }: { of: Answer<'requestCounts'>; code: string }): JSX.Element {
  const hasScopes = data.some(({ missing_scopes: scopes }) => scopes.length > 0);
  return (
    <div class="card">
      <table class="rows" aria-label={`${code} by key`}>
        <HeadRow columns={['Key', 'Requests', ...(hasScopes ? ['Missing scopes'] : []), 'Last']} />
        <tbody>
          {data.map(({ key_id: id, requests, missing_scopes: scopes, last_at: last }) => (
            <tr key={id}>
              <Head label="Key">
                <KeyLink id={id} search={`?search=${code}`} hasLastFour />
              </Head>
              <Cell label="Requests">{count(requests)}</Cell>
              {hasScopes && (
                <Cell label="Missing scopes">
                  {scopes.map((scope) => (
                    <div key={scope}>
                      {scope} <AddScope keyId={id} scope={scope} />
                    </div>
                  ))}
                </Cell>
              )}
              <Cell label="Last">
                <Ago at={last} />
              </Cell>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
