'use strict';

const EVERY_MS = 10_000;
const status = document.getElementById('status');

async function showStatus() {
  let state = 'down';
  let words = 'Not reachable';
  try {
    const answer = await fetch('/readyz', { cache: 'no-store' });
    // read to its end, or the browser would keep the connection for it
    await answer.text();
    state = answer.ok ? 'ready' : 'down';
    words = answer.ok ? 'Up and ready' : 'Up, but not ready';
  } catch {
    // the words above say it
  }
  // written only when it changed, or a screen reader would say it again each time
  if (status.textContent === words) return;
  status.dataset.state = state;
  status.textContent = words;
}

void showStatus();
setInterval(() => {
  if (!document.hidden) void showStatus();
}, EVERY_MS);

for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;

// browsers offer the clipboard to https and loopback only
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('.command button')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
  }
}
