import { dirname, join } from "node:path";
import { itWorksIn, program, run } from "./support.ts";

itWorksIn("Python", ["CLIENTS_PYTHON"], async ({ folder, contract, env }) => {
  const python = process.env["CLIENTS_PYTHON"] ?? "";
  const generator = join(dirname(python), "openapi-python-client");
  await run(generator, ["generate", "--path", contract, "--output-path", "cos_client", "--meta", "none"], {
    cwd: folder,
  });
  await run(python, ["-m", "compileall", "-q", "cos_client"], { cwd: folder });
  return run(python, [program("scenario.py")], { cwd: folder, env: { ...env, PYTHONPATH: folder } });
});
