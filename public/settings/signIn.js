import { wireCopying } from './dom.js';

/* Shows the copy buttons of the sign-in page, which works without this. */

for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
wireCopying(document);
