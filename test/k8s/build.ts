import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments, parseDocument } from "yaml";
import type { Manifest } from "./manifests.ts";

export const K8S = fileURLToPath(new URL("../../k8s/", import.meta.url));

export interface Variant {
  /** For example overlays/production. */
  readonly folder: string;
  /** Folders in components/ that are switched on. */
  readonly components: readonly string[];
  /** Files that an operator adds to k8s/ or changes there, with their text. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Built extends Variant {
  readonly title: string;
  readonly manifests: readonly Manifest[];
}

/** The variants that are checked: every overlay, alone and with its components, and every component on production. */
export function variants(): Variant[] {
  const folders = (name: string) =>
    readdirSync(join(K8S, name), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  // Some components change what these two bring. `instance` has tests of its own.
  const components = [
    "network-policies",
    "exactness-probe",
    ...folders("components").filter((name) => !/^(network-policies|exactness-probe|instance)$/.test(name)),
  ];
  const general = components.filter((name) => !name.endsWith("-dev"));
  const together = components.filter((name) => name !== "ingress-nginx"); // gateway-envoy is in its place
  return [
    ...["base", ...folders("overlays").map((name) => `overlays/${name}`)].map((folder) => ({ folder, components: [] })),
    ...general.map((name) => ({ folder: "overlays/production", components: needsOf(name) })),
    { folder: "overlays/production", components: general.filter((name) => together.includes(name)) },
    // Its Deployment says itself how many replicas there are.
    { folder: "overlays/dev", components: together.filter((name) => name !== "autoscale-event-loop") },
  ];
}

/** Returns the function of a test that makes its assertions on each variant, and names the one that fails. */
export function inEveryVariant(check: (built: Built) => void): () => Promise<void> {
  return async () => {
    for (const built of await Promise.all(variants().map(build))) {
      try {
        check(built);
      } catch (error) {
        throw new Error(`${built.title}: ${(error as Error).message}`, { cause: error });
      }
    }
  };
}

/** Returns a component with the one that it builds on: network-policies-otlp adds to network-policies. */
function needsOf(component: string): string[] {
  return [...new Set([component.replace(/^(network-policies)-.*/, "$1"), component])];
}

const builds = new Map<string, Promise<Built>>();

/** Builds a variant once in this process. Its components are switched on as an operator does: in its `components:`. */
export function build(variant: Variant): Promise<Built> {
  const title = [variant.folder, ...variant.components, ...Object.values(variant.files ?? {})].join(" + ");
  const built = builds.get(title) ?? buildNew(variant, title);
  builds.set(title, built);
  return built;
}

/** @throws with kustomize's message if it refuses the folder. */
async function buildNew({ folder, components, files = {} }: Variant, title: string): Promise<Built> {
  const copy = await mkdtemp(join(tmpdir(), "onboarding-k8s-"));
  try {
    await cp(K8S, copy, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(copy, name)), { recursive: true });
      await writeFile(join(copy, name), text);
    }
    const file = join(copy, folder, "kustomization.yaml");
    const kustomization = parseDocument(await readFile(file, "utf8"));
    const paths = components.map((name) => relative(join(copy, folder), join(copy, "components", name)));
    const { components: own = [] } = kustomization.toJS() as { components?: string[] };
    if (paths.length > 0) kustomization.set("components", [...new Set([...own, ...paths])]);
    await writeFile(file, kustomization.toString());
    const [program = "", ...args] = JSON.parse(tool("K8S_KUSTOMIZE")) as string[];
    const { stdout } = await promisify(execFile)(program, [...args, join(copy, folder)], { maxBuffer: 64 * 1024 ** 2 });
    const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    return { folder, components, title, manifests };
  } finally {
    await rm(copy, { recursive: true });
  }
}

/** Returns what test/k8s/set-up.ts found. */
export function tool(name: "K8S_KUSTOMIZE" | "K8S_SCHEMAS"): string {
  const value = process.env[name];
  if (value === undefined) throw new Error("These tests need tools. Run them with npm run test:k8s.");
  return value;
}
