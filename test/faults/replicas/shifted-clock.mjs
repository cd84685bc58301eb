// Preloaded into a replica. Shifts its wall clock by SHIFT_CLOCK_MS. The monotonic clock stays right, as on a real machine.
// SIGUSR2 puts the clock right.
process.on("SIGUSR2", () => (shift = 0));
let shift = Number(process.env.SHIFT_CLOCK_MS ?? 0);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...given);
  }
  static now() {
    return RealDate.now() + shift;
  }
};
