import { cp } from "node:fs/promises";
import { join } from "node:path";
import { generate, itCompiles, itWorksIn, program, run } from "./support.ts";

const MAVEN = [
  "--batch-mode",
  "--quiet",
  `-Dmaven.repo.local=${process.env["CLIENTS_MAVEN"]}`,
  "-Dmaven.test.skip=true",
];

itCompiles("java", "CLIENTS_MAVEN", (cwd) => run("mvn", [...MAVEN, "compile"], { cwd }));

itWorksIn("Java", ["CLIENTS_GENERATOR"], async (workshop) => {
  const folder = join(workshop.folder, "java");
  const unknown = "disallowAdditionalPropertiesIfNotPresent=false";
  // The libraries that use Gson cannot read a row that is one of two things.
  await generate("java", workshop, { output: "java", settings: `library=apache-httpclient,${unknown}` });
  await cp(program("Scenario.java"), join(folder, "src/main/java/org/openapitools/client/Scenario.java"));
  const build = ["compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath"];
  await run("mvn", [...MAVEN, ...build], { cwd: folder });
  const classes = (await run("cat", ["classpath"], { cwd: folder })).trim();
  const temporary = `-Djava.io.tmpdir=${workshop.env["TMPDIR"]}`;
  const main = ["-cp", `target/classes:${classes}`, "org.openapitools.client.Scenario"];
  return run("java", [temporary, ...main], { cwd: folder, env: workshop.env });
});
