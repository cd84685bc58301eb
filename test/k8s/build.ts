import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments, parseDocument } from "yaml";
import type { Manifest } from "./manifests.ts";

const K8S = fileURLToPath(new URL("../../k8s/", import.meta.url));

export interface Variant {
  /** For example overlays/production. */
  readonly folder: string;
  /** Folders in components/ that are switched on. */
  readonly components: readonly string[];
}

export interface Built extends Variant {
  readonly title: string;
  readonly yaml: string;
  readonly manifests: readonly Manifest[];
}

/** The variants that are checked: every overlay, alone and with its components, and every component on production. */
export async function variants(): Promise<Variant[]> {
  const folders = async (name: string) => {
    const entries = await readdir(join(K8S, name), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  };
  const overlays = (await folders("overlays")).map((name) => `overlays/${name}`);
  const components = await folders("components");
  const general = components.filter((name) => !name.endsWith("-dev"));
  return [
    ...["base", ...overlays].map((folder) => ({ folder, components: [] })),
    ...general.map((name) => ({ folder: "overlays/production", components: needsOf(name) })),
    { folder: "overlays/production", components: general },
    { folder: "overlays/dev", components },
  ];
}

/** Returns a component with the one that it builds on: network-policies-otlp adds to network-policies. */
function needsOf(component: string): string[] {
  return [...new Set([component.replace(/^(network-policies)-.*/, "$1"), component])];
}

const builds = new Map<string, Promise<Built>>();

/** Builds a variant once in this process. Its components are switched on as an operator does: in its `components:`. */
export function build(variant: Variant): Promise<Built> {
  const title = [variant.folder, ...variant.components].join(" + ");
  const built = builds.get(title) ?? buildNew(variant, title);
  builds.set(title, built);
  return built;
}

async function buildNew({ folder, components }: Variant, title: string): Promise<Built> {
  const copy = await mkdtemp(join(tmpdir(), "onboarding-k8s-"));
  try {
    await cp(K8S, copy, { recursive: true });
    const file = join(copy, folder, "kustomization.yaml");
    const kustomization = parseDocument(await readFile(file, "utf8"));
    const paths = components.map((name) => relative(join(copy, folder), join(copy, "components", name)));
    if (paths.length > 0) kustomization.set("components", paths);
    await writeFile(file, kustomization.toString());
    const yaml = await kustomize(join(copy, folder));
    return { folder, components, title, yaml, manifests: parse(yaml) };
  } finally {
    await rm(copy, { recursive: true });
  }
}

/** @throws with kustomize's message if it refuses the folder. */
export async function kustomize(folder: string): Promise<string> {
  const [program = "", ...args] = JSON.parse(tool("K8S_KUSTOMIZE")) as string[];
  const { stdout } = await promisify(execFile)(program, [...args, folder], { maxBuffer: 64 * 1024 ** 2 });
  return stdout;
}

/** Returns what test/k8s/set-up.ts found. */
export function tool(name: "K8S_KUSTOMIZE" | "K8S_SCHEMAS"): string {
  const value = process.env[name];
  if (value === undefined) throw new Error("These tests need tools. Run them with npm run test:k8s.");
  return value;
}

/** @throws if a document is not valid YAML. */
export function parse(yaml: string): Manifest[] {
  return parseAllDocuments(yaml).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}
