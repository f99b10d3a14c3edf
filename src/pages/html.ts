/** Safe HTML, created only by the `html` tag. */
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

/** Builds HTML. Every value except Html is escaped for text and quoted attributes; `undefined` renders nothing. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = literals.map((literal, index) => literal + render(parts[index]));
  return new Html(pieces.join(''));
}

/** Data for a script, as a JSON block: it is not executed, so the Content-Security-Policy allows it. */
export function jsonBlock(id: string, data: unknown): Html {
  // `</script>` or `<!--` in a text would end or hide the block
  const text = JSON.stringify(data).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="${id}">
    ${new Html(text)}
  </script>`;
}

/** Text with `code` in backticks, as in the error table. */
export function withCode(text: string): readonly Html[] {
  return text.split('`').map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map((piece) => piece.text).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
