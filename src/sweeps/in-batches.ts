/**
 * Deals with all that is due, one thing after the other, until nothing is found or nothing more can be done about it.
 * A thing that fails does not cost the others their turn: the next pass finds it again.
 * @param deal tells whether there was something to do.
 * @returns how many things were dealt with. @throws AggregateError with every failure.
 */
export async function inBatches<Thing>(
  find: () => Promise<readonly Thing[]>,
  deal: (thing: Thing) => Promise<boolean>,
  signal: AbortSignal,
): Promise<number> {
  const faults: unknown[] = [];
  let count = 0;
  for (;;) {
    const before = count;
    for (const thing of await find()) {
      if (signal.aborted) return count;
      try {
        if (await deal(thing)) count++;
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, `${faults.length} failed, ${count} were dealt with`);
    if (count === before) return count;
  }
}
