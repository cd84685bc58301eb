import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { onPath } from "../../../src/dev/programs.ts";
import { type Service, startService } from "../../support/service.ts";
import { skip } from "../skip.ts";

/**
 * "positive_data_acceptance" is left out: a request that is valid by its schema may still break a rule that no schema can
 * express, for example with a cursor that was never issued, a stale If-Match or an unregistered language.
 */
const CHECKS =
  "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection";
const SECONDS = 60;
/**
 * Of these, schemathesis does not expect 412 by itself: a stale If-Match is refused whatever the body is, and it takes
 * the If-Match of the contract's example.
 */
const REFUSALS = `[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 416, 422, 429, "5xx"]
`;

describe("schemathesis, from openapi.json", function () {
  this.timeout(SECONDS * 3_000);
  let service: Service | undefined;
  after(() => service?.stop());

  it("finds no 5xx and no response outside the contract", async function () {
    const program = onPath("st");
    if (program === undefined) skip(this, "`st` (schemathesis) is not on the PATH");
    service = await startService({ LIMIT_SCALE: 1_000_000, LIMITER_TIMEOUT_MS: 5_000, STORE_TIMEOUT_MS: 20_000 });
    const { key } = await service.account();
    const config = join(await mkdtemp(join(tmpdir(), "schemathesis-")), "schemathesis.toml");
    await writeFile(config, REFUSALS);
    const options = [
      "--checks",
      CHECKS,
      "--phases",
      "coverage,fuzzing",
      "--max-examples",
      "10",
      "--max-time",
      String(SECONDS),
      "--no-color",
      "--suppress-health-check",
      "all",
      ...(process.env.CI ? ["--seed", "20261121"] : []),
    ];
    // schemathesis parses responses by their media type, but uploaded content may claim any type. generated.test.ts covers it.
    const skipping = ["--exclude-path", "/candidates/{id}/documents/{docId}/content"];
    const run = promisify(execFile)(
      program,
      [
        "--config-file",
        config,
        "run",
        `${service.url}/openapi.json`,
        "-H",
        `Authorization: Bearer ${key}`,
        ...options,
        ...skipping,
      ],
      { maxBuffer: 2 ** 26 },
    );
    const { code, stdout } = await run.then(
      (output) => ({ code: 0, stdout: output.stdout }),
      (error: { code: number; stdout: string }) => error,
    );
    const cases = Number(/(\d+) generated/.exec(stdout)?.[1] ?? 0);
    expect(code, stdout.slice(-8_000)).to.equal(0);
    expect(cases).to.be.above(100);
  });
});
