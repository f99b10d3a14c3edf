import { linkedName } from './links.js';

/* The operation being read: the last one that begins above this line, in pixels from the top of the window. */
const LINE = 64;

const reference = document.getElementById('reference');

/** Calls `onCurrent` with the id of the operation being read, or undefined, whenever it changes. */
export function followReading(onCurrent) {
  let current;
  let isPlanned = false;
  const look = () => {
    isPlanned = false;
    const next = idOf(blockThatIsRead());
    if (next === current) return;
    current = next;
    onCurrent(current);
  };
  const plan = () => {
    if (!isPlanned) requestAnimationFrame(look);
    isPlanned = true;
  };
  addEventListener('scroll', plan, { passive: true });
  addEventListener('resize', plan);
  new ResizeObserver(plan).observe(reference);
}

function blockThatIsRead() {
  const blocks = [...reference.querySelectorAll('.opblock')];
  // the last ones cannot be scrolled to the top
  const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 1;
  if (isAtEnd) {
    const name = linkedName();
    const linked = blocks.find((block) => name.endsWith(`/${idOf(block)}`));
    if (linked && linked.getBoundingClientRect().top < innerHeight) return linked;
  }
  const above = blocks.filter((block) => block.getBoundingClientRect().top <= LINE).at(-1);
  return above && above.getBoundingClientRect().bottom > 0 ? above : undefined;
}

/** The operation's id from that of its element, `operations-TAG-ID`. */
function idOf(block) {
  return block?.id.split('-').slice(2).join('-');
}
