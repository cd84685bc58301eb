import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SetupError, say } from "../../../src/dev/output.ts";
import { onPath, step } from "../../../src/dev/programs.ts";
import { podman } from "./engine.ts";
import { type Debian, LOCAL_IMAGES, type Makings, PACKAGES } from "./local-images.ts";

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Maximum time of a pull, in milliseconds. After it, the registry counts as out of reach. */
const PULL_TIMEOUT_MS = 120_000;

/**
 * Pulls the images that Dockerfile and docker-compose.yml name. If no registry is reached, makes them once from Debian's
 * packages, under the same names. Prints what each image is.
 * @returns why the tests are skipped, if the images can be neither pulled nor made.
 */
export async function ensureBaseImages(makings: Makings): Promise<string | undefined> {
  const names = await namesInUse();
  let missing = [];
  for (const name of names) if (!(await isUsable(name))) missing.push(name);
  missing = await pull(missing, makings);
  if (missing.length > 0 && onPath("mmdebstrap") === undefined)
    return "the containers are not tested. No image registry is reached, and mmdebstrap is not there to make images.";
  for (const name of missing) await make(name, makings);
  for (const name of names) say(`${name}: ${await describe(name)}`);
  return undefined;
}

/** Returns the names of the published images: the Dockerfile's, and those of docker-compose.yml with a version. */
async function namesInUse(): Promise<string[]> {
  const compose = await readFile("docker-compose.yml", "utf8");
  const names = [...compose.matchAll(/^\s+image: ([\w.-]+:[\w.-]+)/gm)].map(([, name = ""]) => name);
  return [...new Set([(await nodeImage()).name, ...names])];
}

/** Returns the name and the digest of the Dockerfile's base image. */
export async function nodeImage(): Promise<{ name: string; digest: string }> {
  const argument = /^ARG NODE_IMAGE=([\w.-]+:[\w.-]+)@(sha256:[0-9a-f]{64})$/m;
  const [, name = "", digest = ""] = argument.exec(await readFile("Dockerfile", "utf8")) ?? [];
  if (digest === "") throw new SetupError("The Dockerfile names no image with a digest in ARG NODE_IMAGE.");
  return { name, digest };
}

/** Returns true if an image is here: pulled, or made by the present code. */
async function isUsable(name: string): Promise<boolean> {
  if (!(await exists(withRegistry(name)))) return false;
  const recipe = await labelOf(name, "recipe");
  return recipe === "" || recipe === (await presentRecipe());
}

async function presentRecipe(): Promise<string> {
  const code = await readFile(new URL("local-images.ts", import.meta.url));
  return createHash("sha256").update(code).digest("hex");
}

function labelOf(name: string, label: string): Promise<string> {
  return podman("image", "inspect", withRegistry(name), "--format", `{{index .Config.Labels "${label}"}}`);
}

function exists(name: string): Promise<boolean> {
  return podman("image", "exists", name).then(
    () => true,
    () => false,
  );
}

/** @returns the names that could not be pulled. */
async function pull(names: string[], { signal }: Makings): Promise<string[]> {
  for (const [index, name] of names.entries()) {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(PULL_TIMEOUT_MS)]);
    const pulled = await step(`Pulling ${name}`, "podman", ["pull", "--quiet", await published(name)], {
      signal: timeout,
    }).catch(() => false);
    signal.throwIfAborted();
    if (pulled) await podman("tag", await published(name), withRegistry(name));
    if (!pulled) return names.slice(index); // without a registry the others would fail as well
  }
  return [];
}

async function make(name: string, makings: Makings): Promise<void> {
  const [product = "", version = ""] = name.split(":");
  const image = LOCAL_IMAGES[product];
  if (image === undefined)
    throw new SetupError(`test/containers/support/local-images.ts does not know how to make ${name}.`);
  const root = await ensureRoot(image.debian, makings);
  const context = join(makings.temporary, product);
  await mkdir(context);
  const lines = await image.prepare({ ...makings, context, version });
  const label = `LABEL made-of=${JSON.stringify(image.madeOf)} recipe=${await presentRecipe()}`;
  await writeFile(join(context, "Containerfile"), [`FROM ${root}`, ...lines, label, ""].join("\n"));
  await ran(
    `Making the image ${name}`,
    "podman",
    ["build", "--quiet", "--format", "docker", "--tag", withRegistry(name), context],
    makings,
  );
}

/** Makes the image of a small Debian once. @returns its name. */
async function ensureRoot(debian: Debian, makings: Makings): Promise<string> {
  const name = `localhost/debian-${debian}:local`;
  if (await exists(name)) return name;
  const file = join(makings.temporary, `${debian}.tar`);
  const packages = `--include=${PACKAGES[debian].join(",")}`;
  const without = ["doc", "locale", "man"].map((folder) => `--dpkgopt=path-exclude=/usr/share/${folder}/*`);
  const args = ["--quiet", "--variant=essential", ...without, packages, debian, file];
  await ran(`Making the files of Debian ${debian} (mmdebstrap)`, "mmdebstrap", args, makings);
  await ran(`Importing them`, "podman", ["import", "--quiet", "--change", `ENV ${PATH}`, file, name], makings);
  return name;
}

/** Returns the version in an image, and what the image is made of if it was made here. */
async function describe(name: string): Promise<string> {
  const image = LOCAL_IMAGES[name.split(":")[0] ?? ""];
  const command = image?.versionCommand ?? ["true"];
  const [version = ""] = (await podman("run", "--rm", "--network", "none", withRegistry(name), ...command)).split("\n");
  const madeOf = await labelOf(name, "made-of");
  return madeOf === "" ? version : `${version}; made here of ${madeOf}`;
}

/** Returns what to pull: by digest, if the Dockerfile has one. */
async function published(name: string): Promise<string> {
  const node = await nodeImage();
  return name === node.name ? `${withRegistry(name.split(":")[0] ?? "")}@${node.digest}` : withRegistry(name);
}

/** Returns the full name that `FROM name` and `image: name` stand for. */
function withRegistry(name: string): string {
  return `docker.io/library/${name}`;
}

async function ran(title: string, program: string, args: string[], { signal }: Makings): Promise<void> {
  if (!(await step(title, program, args, { signal }))) throw new SetupError(`${title} failed; its error is above.`);
}
