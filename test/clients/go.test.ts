import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { generate, itCompiles, itWorksIn, program, run } from "./support.ts";

const ENV = {
  GOMODCACHE: process.env["CLIENTS_GO"],
  GOFLAGS: "-mod=mod -modcacherw",
  CGO_ENABLED: "0",
};
/** Compiles without optimising. Most of the time is that of Go's own library. */
const PLAIN = "-gcflags=all=-N -l";

itCompiles("go", "CLIENTS_GO", (cwd) => run("go", ["build", PLAIN, "./..."], { cwd, env: ENV }));

itWorksIn("Go", ["CLIENTS_GENERATOR", "CLIENTS_GO"], async (workshop) => {
  const folder = join(workshop.folder, "go");
  const identity = "packageName=cos,gitHost=example.com,gitUserId=,gitRepoId=cos";
  await generate("go", workshop, {
    output: "go",
    settings: `${identity},disallowAdditionalPropertiesIfNotPresent=false`,
  });
  await mkdir(join(folder, "scenario"));
  await cp(program("scenario.go"), join(folder, "scenario", "main.go"));
  const env = { ...workshop.env, ...ENV };
  await run("go", ["mod", "edit", "-module", "example.com/cos"], { cwd: folder, env });
  await run("go", ["build", PLAIN, "./..."], { cwd: folder, env });
  return run("go", ["run", PLAIN, "./scenario"], { cwd: folder, env });
});
