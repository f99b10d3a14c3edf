/** Returns a number in [0, 1). */
export type Random = () => number;

/** The same sequence for the same seed (mulberry32), so that a run can be repeated. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random letters and digits, which hardly compress. */
export function noise(random: Random, length: number): string {
  let text = '';
  while (text.length < length) text += Math.floor(random() * 36 ** 10).toString(36);
  return text.slice(0, length);
}
