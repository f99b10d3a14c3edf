import { asksForAll } from './openapi/include';
import { type Arguments, listWithAll, type RestOperation } from './routes/routes';
import type { RouteHandler } from './sofa';

/** Uses the list's twin if `include` is set. */
export function withInclude(
  operation: RestOperation,
  handlerOf: (operation: RestOperation) => RouteHandler,
): RouteHandler {
  const [plain, twin] = [handlerOf(operation), listWithAll(operation)];
  if (!twin) return plain;
  const withAll = handlerOf(twin);
  return (args: Arguments, context) => {
    const { include: _include, ...others } = args;
    return (asksForAll(args) ? withAll : plain)(others, context);
  };
}
