/*
 * Preloaded (node --require) to run a program on a machine whose clock is SHIFT_HOURS off: Date is moved, timers and
 * performance.now() are not, as when a clock is set.
 */
const shift = Number(process.env.SHIFT_HOURS) * 3_600_000;
const RealDate = Date;

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }

  static now() {
    return RealDate.now() + shift;
  }
};
