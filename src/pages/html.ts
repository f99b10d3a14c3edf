/** A piece of HTML that is safe to send: made by the `html` tag only. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds HTML; every value is escaped for text and quoted attributes, except Html itself. `undefined` is left out. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = literals.map((literal, index) => literal + render(parts[index]));
  return new Html(pieces.join(''));
}

/** Data for a script, as a JSON block: not executed, so it needs no leave from the Content-Security-Policy. */
export function jsonBlock(id: string, data: unknown): Html {
  // `</script>` and `<!--` inside a text would end or hide the block
  const text = JSON.stringify(data).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="${id}">
    ${new Html(text)}
  </script>`;
}

/** Text with `code` between backticks, as written in the error table. */
export function withCode(text: string): readonly Html[] {
  return text.split('`').map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map((piece) => piece.text).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
