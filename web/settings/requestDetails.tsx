import type { ComponentChildren, JSX } from 'preact';
import { AddScope } from './addScope';
import { type Answer, settings } from './api';
import { Copyable, Sheet } from './dialog';
import { KeyLink } from './keyNames';
import { Ago, Cell, Facts, Head, HeadRow, State } from './parts';
import { exact, length } from './time';

/* The details of a logged request. */

export type Request = Answer<'requests'>['data'][number];

export const APIS: Readonly<Record<Request['face'], string>> = { rest: 'REST', graphql: 'GraphQL', mcp: 'MCP' };
/** The status of a request whose caller disconnected before the answer. */
const LEFT = 499;

/** The status of the error, even if GraphQL or MCP answered it with 200. */
const statusOf = ({ status, code }: Request): number =>
  (status === 200 ? settings.statuses[code ?? ''] : undefined) ?? status;

/** The status in one line. */
export function Status({ of: request }: { of: Request }): JSX.Element {
  const { code, missing_scope: missing } = request;
  const status = statusOf(request);
  const state = code !== null || (status >= 400 && status !== LEFT) ? 'failed' : status === LEFT ? '' : 'succeeded';
  return (
    <>
      <State of={state} words={String(status)} /> {missing === null ? code : `lacks ${missing}`}
      {status === LEFT && 'caller disconnected'}
    </>
  );
}

/** Why a key was refused. */
const REFUSALS = {
  revoked: 'the key is revoked',
  expired: 'the key has expired',
  address: 'the key does not allow this address',
};

export function Details({ of: request }: { of: Request }): JSX.Element {
  const { at, key_id: key, method, path, operation, face, code, reason, status, ms, address } = request;
  const { missing_scope: missing } = request;
  const facts: (readonly [string, ComponentChildren])[] = [
    ['When', exact(at)],
    ['Request', <code>{`${method} ${path}`}</code>],
    ['Operation', operation === null ? 'not known: it failed before' : <code>{operation}</code>],
    ['API', APIS[face]],
    ['Status', status === LEFT ? `${LEFT}: the caller disconnected before the answer` : statusOf(request)],
  ];
  if (code !== null)
    facts.push([
      'Error code',
      <a href={`/errors/${code}`}>
        <code>{code}</code>
      </a>,
    ]);
  if (statusOf(request) !== status) facts.push(['Answered with', `HTTP ${status}, as ${APIS[face]} answers errors`]);
  if (missing !== null)
    facts.push([
      'Lacks the scope',
      <>
        {missing} <AddScope keyId={key} scope={missing} />
      </>,
    ]);
  if (reason !== null) facts.push(['Refused because', REFUSALS[reason]]);
  facts.push(['Took', length(ms)], ['From', address], ['Key', <KeyLink id={key} hasLastFour />]);
  return (
    <Sheet title={operation ?? path} button="Close">
      <Copyable name="Request id" text={request.request_id} />
      <p class="hint">The request id, as in the answer’s header X-Request-Id and in the gateway’s log.</p>
      <Facts of={facts} />
    </Sheet>
  );
}

/** How often each key made requests with one error code. */
export function CountsByKey({ of: { data }, code }: { of: Answer<'requestCounts'>; code: string }): JSX.Element {
  const hasScopes = data.some(({ missing_scopes: scopes }) => scopes.length > 0);
  return (
    <table class="rows" aria-label={`${code} by key`}>
      <HeadRow columns={['Key', 'Requests', ...(hasScopes ? ['Lacks'] : []), 'Last']} />
      <tbody>
        {data.map(({ key_id: id, requests, missing_scopes: scopes, last_at: last }) => (
          <tr key={id}>
            <Head label="Key">
              <KeyLink id={id} search={`?code=${code}`} hasLastFour />
            </Head>
            <Cell label="Requests">{requests.toLocaleString('en')}</Cell>
            {hasScopes && (
              <Cell label="Lacks">
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
  );
}
