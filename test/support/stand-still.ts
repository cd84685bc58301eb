/** Blocks this process: it runs no timer and reads no socket, as if it was stopped or had no CPU. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
