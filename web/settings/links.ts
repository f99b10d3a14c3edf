import { options } from 'preact';
import { addressOf } from './addresses';

/* Every link that is drawn is below the path of the gateway, and on the side of live data or the sandbox that is shown. */

const before = options.vnode?.bind(options);
options.vnode = (node) => {
  const { type, props } = node as { type: unknown; props: { href?: unknown } };
  const { href } = props;
  if (type === 'a' && typeof href === 'string') props.href = addressOf(href);
  before?.(node);
};
