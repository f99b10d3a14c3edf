import { type Fault, invalidRequest, shorten } from '../errors';
import type { Exchange } from '../http/exchange';
import { UUID } from '../units';

export type Params = Readonly<Record<string, string>>;

/** The ids in a path; the routes have no other parameters. @throws AppError invalid_request */
export function readIds({ search }: Pick<Exchange, 'search'>, params: Params): { id: string; attachmentId: string } {
  const malformed = Object.entries(params).filter(([, value]) => !UUID.test(value));
  // one is named, as an example: there may be any number
  const unknown = [...new URLSearchParams(search).keys()].slice(0, 1);
  const faults: Fault[] = [
    ...malformed.map(([parameter]): Fault => ({ parameter, code: 'format', detail: 'must match format "uuid"' })),
    ...unknown.map((name): Fault => {
      return { parameter: shorten(name), code: 'unknown', detail: 'is not a parameter of this route' };
    }),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
  const { id = '', attachment_id: attachmentId = '' } = params;
  return { id: id.toLowerCase(), attachmentId: attachmentId.toLowerCase() };
}
