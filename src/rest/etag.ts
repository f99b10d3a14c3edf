/** Whether If-None-Match matches the tag; the RFC requires weak comparison for this header. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const named = ifNoneMatch.split(',').map((part) => part.trim().replace(/^W\//, ''));
  return named.includes('*') || named.includes(tag);
}
