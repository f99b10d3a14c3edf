import './prose.css';

const EVERY_MS = 10_000;
const status = document.getElementById('status');

async function showStatus() {
  let state = 'down';
  let words = 'Not reachable';
  try {
    const answer = await fetch('/readyz', { cache: 'no-store' });
    // read to the end, or the browser would keep the connection open
    await answer.text();
    state = answer.ok ? 'ready' : 'down';
    words = answer.ok ? 'Up and ready' : 'Up, but not ready';
  } catch {
    // the defaults above apply
  }
  // only written on a change, or a screen reader would announce it each time
  if (status.textContent === words) return;
  status.dataset.state = state;
  status.textContent = words;
}

void showStatus();
setInterval(() => {
  if (!document.hidden) void showStatus();
}, EVERY_MS);

for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;

// browsers only offer the clipboard on https and loopback
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('.command button')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const command = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = 'Copied';
      } catch {
        // refused: the visitor can copy what is selected
        getSelection().selectAllChildren(command);
        button.textContent = 'Press Ctrl+C';
      }
      setTimeout(() => (button.textContent = 'Copy'), 3000);
    });
  }
}
