import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors';

/* What HTTP/1.1 demands of the head of a request (RFC 9112, section 3.2), which Node does not check, or refuses without a body. */

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;
/** A host and its port (RFC 3986, section 3.2); empty if the target has none. */
const HOST = /^(?:\[[\da-fv:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Makes a target in absolute form one in origin form; its host is then that of the request. */
export function readTarget(request: IncomingMessage): void {
  const [, host, rest = ''] = ABSOLUTE.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** @throws AppError invalid_request for a request that is not valid HTTP/1.1, or expects what no answer meets (417) */
export function checkHead({ headers, httpVersion, rawHeaders }: IncomingMessage): void {
  // names and values alternate
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host');
  const isOld = httpVersion === '1.0';
  if (hosts.length > 1 || (hosts.length === 0 && !isOld))
    throw new AppError('invalid_request', 'A request must have exactly one Host header.');
  if (!HOST.test(headers.host ?? '')) throw new AppError('invalid_request', 'The host of the request is not valid.');
  const { expect } = headers;
  if (expect !== undefined && !isOld && expect.toLowerCase() !== '100-continue')
    throw new AppError('invalid_request', 'Expect can only be 100-continue.', { status: 417 });
}
