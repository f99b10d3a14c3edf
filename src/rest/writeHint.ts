import type { IncomingMessage } from 'node:http';
import type { Operation } from '../schema/declaredOperations';
import { restOperations, type RouteMatch } from './routes';

const WRITES: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Returns the hint for a write to a list or one of its objects: the route that writes such objects, as a sentence after a space; empty for
 * anything else.
 */
export function createWriteHint(operations: readonly Operation[], base: string) {
  const routes = new Set(restOperations(operations).map(({ rest }) => `${rest.method} ${rest.path}`));
  return ({ methods }: RouteMatch, { method = '' }: IncomingMessage): string => {
    const [operation] = methods.values();
    const [, list = ''] = /^(\/[\w-]+)(\/:id)?$/.exec(operation?.rest.path ?? '') ?? [];
    if (!WRITES.includes(method) || !routes.has(`GET ${list}`) || !routes.has(`GET ${list}/:id`)) return '';
    const hints = [
      routes.has(`POST ${list}/bulk`) && ` Create or update with POST ${base}${list}/bulk.`,
      routes.has(`PATCH ${list}/:id`) && ` Change one with PATCH ${base}${list}/{id}.`,
    ].filter((hint) => hint !== false);
    // a POST is meant to create
    const hint = method === 'POST' ? hints[0] : hints.at(-1);
    if (hint !== undefined) return hint;
    const takesMore = [...routes].some(
      (route) => !route.startsWith('GET ') && route.split(' ')[1]?.startsWith(`${list}/`),
    );
    return takesMore || routes.has(`POST ${list}`) ? '' : ` Read-only: no route creates or changes ${list.slice(1)}.`;
  };
}
