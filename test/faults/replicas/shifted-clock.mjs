// Preloaded into a replica: its wall clock is wrong by SHIFT_CLOCK_MS. The monotonic one is right, as on a real machine.
const shift = Number(process.env.SHIFT_CLOCK_MS ?? 0);
const Right = Date;
globalThis.Date = class extends Right {
  constructor(...given) {
    if (given.length === 0) super(Right.now() + shift);
    else super(...given);
  }
  static now() {
    return Right.now() + shift;
  }
};
