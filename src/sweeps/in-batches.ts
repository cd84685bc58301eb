/**
 * Handles all items that are due, one after the other, batch by batch, until a batch has nothing to do. If an item
 * fails, the others of its batch are still handled. The next pass finds it again.
 * @param find returns the next batch.
 * @param handle returns false if there was nothing to do.
 * @returns the number of items that were handled.
 * @throws AggregateError with every failure, after the batch in which they occurred.
 */
export async function inBatches<Item>(
  find: () => Promise<readonly Item[]>,
  handle: (item: Item) => Promise<boolean>,
  signal: AbortSignal,
): Promise<number> {
  const failures: unknown[] = [];
  let count = 0;
  for (;;) {
    const before = count;
    for (const item of await find()) {
      if (signal.aborted) return count;
      try {
        if (await handle(item)) count++;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `${failures.length} items failed, ${count} were handled`);
    if (count === before) return count;
  }
}
