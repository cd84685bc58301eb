import { setTimeout as wait } from "node:timers/promises";
import { type Processes, type Settings, spawnService } from "../support/processes.ts";

/** Kills a replica every second with SIGKILL, in turn, and starts another one in its place. */
export async function killInTurn(replicas: Processes[], settings: Settings, kills: number): Promise<void> {
  for (let n = 0; n < kills; n++) {
    const place = n % replicas.length;
    const killed = replicas[place]!;
    killed.child.kill("SIGKILL");
    await killed.operators.close();
    const [started] = await Promise.all([spawnService(settings), wait(1_000)]);
    replicas[place] = started;
  }
}
