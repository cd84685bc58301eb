import type { Manifest } from "./manifests.ts";

/** A rule of our policy for what kustomize builds. */
export interface Rule {
  readonly title: string;
  /** Returns one line for each fault; none if the manifests keep the rule. */
  readonly faults: (manifests: readonly Manifest[]) => string[];
  /** Ways to break the rule. The tests break good manifests in each way, and expect the fault that it names. */
  readonly broken: readonly Breakage[];
}

export interface Breakage {
  readonly title: string;
  /** Changes the manifests in place. */
  readonly breaks: (manifests: Manifest[]) => void;
  readonly fault: RegExp;
  /** What is broken. By default the production overlay. */
  readonly in?: "production" | "dev";
}

/** Returns `text` as a list if the condition holds. */
export function faultIf(condition: boolean, text: string): string[] {
  return condition ? [text] : [];
}

/** Removes the objects that match, in place. */
export function remove(manifests: Manifest[], matches: (manifest: Manifest) => boolean): void {
  manifests.splice(0, manifests.length, ...manifests.filter((manifest) => !matches(manifest)));
}
