import './prose.css';
import { at } from './base';
import './code';
import './search';

/* Landing page, sign-in, error pages and guides: the status on the landing page. */

const EVERY_MS = 10_000;
const status = document.getElementById('status');

async function showStatus(place: HTMLElement): Promise<void> {
  let [state, words] = ['down', 'Not reachable'];
  try {
    const answer = await fetch(at('/readyz'), { cache: 'no-store', signal: AbortSignal.timeout(EVERY_MS / 2) });
    // read to the end, or the browser would keep the connection open
    await answer.text();
    [state, words] = answer.ok ? ['ready', 'Up and ready'] : ['down', 'Up, but not ready'];
  } catch {
    // not reachable, or not in time, so that requests never overlap
  }
  // only written on a change, or a screen reader would announce it each time
  if (place.textContent === words) return;
  place.dataset.state = state;
  place.textContent = words;
}

if (status) {
  void showStatus(status);
  setInterval(() => {
    if (!document.hidden) void showStatus(status);
  }, EVERY_MS);
}
