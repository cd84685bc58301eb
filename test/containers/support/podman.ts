import { setTimeout } from "node:timers/promises";
import { podman } from "./engine.ts";

export { podman };

/** The output of `podman inspect` for a container, as far as the tests read it. */
export interface Inspected {
  readonly State: { readonly Status: string; readonly ExitCode: number; readonly OOMKilled: boolean };
  readonly Config: { readonly User: string };
  readonly HostConfig: { readonly ReadonlyRootfs: boolean };
  readonly EffectiveCaps: readonly string[] | null;
}

export async function inspect(container: string): Promise<Inspected> {
  const [inspected] = JSON.parse(await podman("container", "inspect", container)) as [Inspected];
  return inspected;
}

/** Runs JavaScript with a container's Node. @returns what it printed. */
export function evaluate(container: string, code: string): Promise<string> {
  return podman("exec", container, "node", "-e", code);
}

/** Returns the URL of a container's port that is published on 127.0.0.1. */
export async function publishedUrl(container: string, port: number): Promise<string> {
  return `http://${await podman("port", container, String(port))}`;
}

/** Tries every 100 ms until `attempt` does not throw. @throws its last error after `withinMs`. */
export async function eventually<T>(attempt: () => Promise<T>, withinMs = 60_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await setTimeout(100);
  }
}

/** Resolves when the URL returns 200. */
export async function untilOk(url: string): Promise<void> {
  await eventually(async () => {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    if (status !== 200) throw new Error(`${url} answers ${status}.`);
  });
}
