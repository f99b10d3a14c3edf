/** A piece of code; `kind` is the name of a group of {@link TOKEN}, and the class of its element; without one it is plain. */
export interface Token {
  readonly kind?: string | undefined;
  readonly text: string;
}

/** Enough for JSON, curl, TypeScript, Python and GraphQL. A comment can only begin outside a string and an address. */
const TOKEN = new RegExp(
  [
    String.raw`(?<address>\bhttps?:\/\/[^\s"'\x60]+)`,
    String.raw`(?<comment>(?:\/\/|#)[^\n]*)`,
    String.raw`(?<member>"(?:\\.|[^"\\\n])*"(?=:))`,
    String.raw`(?<string>"(?:\\.|[^"\\])*"|'[^']*'|\x60[^\x60]*\x60)`,
    String.raw`(?<keyword>\b(?:as|async|await|catch|const|curl|for|from|if|import|let|new|of|print|return|throw|try)\b)`,
    String.raw`(?<value>\b(?:true|false|null|True|False|None|\d+(?:\.\d+)?)\b)`,
  ].join('|'),
  'g',
);

/** The tokens of a piece of code in order, for highlighting. */
export function tokensOf(code: string): readonly Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(TOKEN)) {
    if (index > end) tokens.push({ text: code.slice(end, index) });
    tokens.push({ kind: Object.keys(groups).find((kind) => groups[kind] !== undefined), text });
    end = index + text.length;
  }
  return [...tokens, { text: code.slice(end) }];
}
