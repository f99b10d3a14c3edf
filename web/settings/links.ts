import { options } from 'preact';
import { at } from '../base';

/* Every link that is drawn is below the path of the gateway. */

const before = options.vnode?.bind(options);
options.vnode = (node) => {
  const { type, props } = node as { type: unknown; props: { href?: unknown } };
  const { href } = props;
  // a copy of a link has it already
  if (type === 'a' && typeof href === 'string' && href.startsWith('/') && !href.startsWith(at('/')))
    props.href = at(href);
  before?.(node);
};
