/*
 * What the address keeps after its #, for a reload and for whoever it is sent to: the gateway (url) and the year. Never a key, since
 * addresses are stored and shared.
 */

export function kept(name) {
  return new URLSearchParams(location.hash.slice(1)).get(name) ?? undefined;
}

/** Keeps a value, or nothing if it is empty. */
export function keep(name, value) {
  const members = new URLSearchParams(location.hash.slice(1));
  if (value === '') members.delete(name);
  else members.set(name, value);
  history.replaceState(null, '', members.size === 0 ? location.pathname + location.search : `#${members}`);
}
