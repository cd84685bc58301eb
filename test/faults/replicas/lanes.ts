/** Work done over and over in so many lanes, until it is told to end. */
export class Lanes {
  #over = false;
  readonly #lanes: Promise<void>[];

  /** @param work is given a number of its own; what it throws ends the load, and is thrown by `end`. */
  constructor(count: number, work: (lane: number, turn: number) => Promise<unknown>) {
    this.#lanes = Array.from({ length: count }, async (_, lane) => {
      for (let turn = 0; !this.#over; turn++) await work(lane, turn);
    });
    for (const lane of this.#lanes) lane.catch(() => (this.#over = true));
  }

  /** Lets every lane finish what it is at. */
  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#lanes);
  }
}
