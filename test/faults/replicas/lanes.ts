/** Repeats work in several concurrent loops ("lanes") until `end` is called. */
export class Lanes {
  #over = false;
  readonly #lanes: Promise<void>[];

  /** @param work gets the lane's number and the number of the turn. If it throws, all lanes end, and `end` throws the error. */
  constructor(count: number, work: (lane: number, turn: number) => Promise<unknown>) {
    this.#lanes = Array.from({ length: count }, async (_, lane) => {
      for (let turn = 0; !this.#over; turn++) await work(lane, turn);
    });
    for (const lane of this.#lanes) lane.catch(() => (this.#over = true));
  }

  /** Stops the lanes after their current turn. @throws what the work threw. */
  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#lanes);
  }
}
