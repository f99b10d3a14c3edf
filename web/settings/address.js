/* What is chosen on the page is in its address, so that it outlives a reload and can be passed on. */

/** The value of a parameter of the address; null if it has none. */
export function chosen(name) {
  return new URL(location.href).searchParams.get(name);
}

/** Changes parameters; null removes one. The history has no entry for it. */
export function choose(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}
