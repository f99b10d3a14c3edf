/** How many resources are named. */
const NAMED = 3;

/** `products read + write, orders read, quotes read +2`: the scopes of a key by resource. */
export function scopesInWords(scopes: readonly string[], most = NAMED): string {
  const actions = new Map<string, string[]>();
  for (const scope of scopes) {
    const [resource = '', action = ''] = scope.split(':');
    actions.set(resource, [...(actions.get(resource) ?? []), action]);
  }
  const named = [...actions].map(([resource, can]) => `${resource} ${can.join(' + ')}`);
  const more = named.length - most;
  return `${named.slice(0, most).join(', ')}${more > 0 ? ` +${String(more)}` : ''}`;
}
