/** An entry of the search of all pages: made by src/guides/searchIndex.ts, searched by web/search.ts. */
export interface SearchEntry {
  readonly kind: 'REST' | 'Guide' | 'Error' | 'Page';
  readonly title: string;
  readonly href: string;
  /** Shown beside the title: a route, a guide, a code. */
  readonly detail?: string;
  /** More words to find it by, which are not shown. */
  readonly words?: string;
}
