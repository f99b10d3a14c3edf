/** A UUID; `randomUUID` is undefined except on https and loopback. */
export function newUuid(): string {
  // oxlint-disable-next-line typescript/no-unnecessary-condition
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
