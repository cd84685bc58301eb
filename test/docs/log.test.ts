import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { onPath } from "../../src/dev/programs.ts";
import { expectProblem } from "../support/client.ts";
import type { TestAccount } from "../support/service.ts";
import { useOwnService } from "../support/use-service.ts";

const PAGE = readFileSync("src/docs/operating.md", "utf8");
const SECTION = PAGE.slice(PAGE.indexOf("\n## The log\n"), PAGE.indexOf("\n## Settings\n"));

/** Returns the command below a question of the section. */
function commandFor(question: string): string {
  const [, command = ""] = /```sh\n(.*?)```/s.exec(SECTION.slice(SECTION.indexOf(question))) ?? [];
  return command;
}

const GUESSED = "cos_live_000000000000000000000000000000000000";

describe("the log, as operating.md uses it", () => {
  const service = useOwnService();
  let folder: string;
  let account: TestAccount;
  let revoked: TestAccount;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-log-"));
    [account, revoked] = [await service.account(), await service.account()];
    await revoked.client.get("/candidates");
    await service.operators.accounts.revokeKey(revoked.keyId);
    for (let n = 0; n < 3; n++) expectProblem(await revoked.client.get("/candidates"), 401, "api_key_revoked");
    const get = (headers: Record<string, string>) => account.client.get("/candidates", headers);
    expectProblem(await get({ Authorization: "" }), 401, "api_key_missing");
    expectProblem(await get({ Authorization: `Bearer ${GUESSED}` }), 401, "api_key_invalid");
    expectProblem(await get({ "X-API-Key": "another" }), 401, "api_key_invalid");
    const wrong = {
      email: 7,
      "ada@example.com": 1,
      documents: [{ Ada: 1 }],
      metadata: { "+31 6 1234": [] },
    };
    const response = await account.client.post("/candidates", wrong, { "X-Request-Id": "req_wrong" });
    expectProblem(response, 422, "validation_failed");
    for (let n = 0; n < 20; n++) expect((await account.client.get("/candidates")).status).to.equal(200);
    for (let n = 0; n < 12; n++) await account.client.post("/candidates/cand_none/start");
    writeFileSync(join(folder, "log"), ["no JSON", ...service.log.map((line) => JSON.stringify(line))].join("\n"));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Runs the command that answers a question. A stand-in for `kubectl` prints the service's whole log. */
  async function answerTo(question: string): Promise<string[]> {
    const kubectl = `kubectl() { case "$*" in *"-n onboarding logs -l "*"--tail=-1 --prefix=false"*) cat ${join(folder, "log")};; esac; }`;
    const script = [kubectl, commandFor("In Kubernetes"), commandFor(question)].join("\n");
    const env = { ...process.env, REQUEST_ID: "req_wrong", ACCOUNT: account.id };
    const { stdout } = await promisify(execFile)("sh", ["-euc", script], { env });
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.trim());
  }
  const lineOf = (requestId: string) => service.log.find(({ request_id }) => request_id === requestId) ?? {};

  it("says why a request was refused, and from where, and nothing that a client made up", () => {
    const line = lineOf("req_wrong");
    expect(line).to.include({
      status: 422,
      code: "validation_failed",
      account: account.id,
      client_address: "127.0.0.0/24",
    });
    expect(line["pointers"]).to.have.members(["/email", "/…", "/documents/0/name", "/documents/0/…", "/metadata/…"]);
    expect(JSON.stringify(service.log)).not.to.match(/ada@|Ada|1234/);
    const ofAdmitted = service.log.find(({ status, endpoint }) => status === 200 && endpoint === "listCandidates");
    expect(ofAdmitted).not.to.have.any.keys("code", "reason", "pointers", "client_address");
  });

  describe("with jq", () => {
    before(function () {
      if (onPath("jq") === undefined) this.skip();
    });

    it("tells why req_… was refused", async () => {
      const [answer = "", ...more] = await answerTo("**Why was a request refused?**");
      expect(more).to.deep.equal([]);
      expect(JSON.parse(answer)).to.include({ status: 422, code: "validation_failed", account: account.id });
    });

    it("tells who got 401, why, and from where", async () => {
      expect(await answerTo("**Who got 401")).to.have.members([
        `3 api_key_revoked - ${revoked.id} ${revoked.keyId} 127.0.0.0/24`,
        "1 api_key_missing - - - 127.0.0.0/24",
        "1 api_key_invalid malformed - - 127.0.0.0/24",
        "1 api_key_invalid two_keys - - 127.0.0.0/24",
      ]);
    });

    it("tells what an account sends wrong, and what is refused", async () => {
      const answer = await answerTo("**What does an account send wrong?**");
      expect(answer[0]).to.equal("10 404 not_found startCandidate");
      expect(answer[1]).to.equal("2 429 rate_limited startCandidate");
      expect(answer[2]).to.match(/^1 422 validation_failed createCandidate \/\S+$/);
      expect(await answerTo("**What is refused")).to.include.members(["10 404 not_found", "3 401 api_key_revoked"]);
    });
  });

  it("has as many bytes as the page says", () => {
    const [, admitted, refused] =
      /admitted has up to (\d+) bytes, of one that was refused up to (\d+)/.exec(SECTION) ?? [];
    const requests = service.log.filter(({ msg }) => msg === "request");
    // The name of a pod has 26 characters, and its process has the number 1.
    const longest = (isRefused: boolean) =>
      Math.max(
        ...requests
          .filter(({ code }) => (code !== undefined) === isRefused)
          .map((line) => `${JSON.stringify({ ...line, pid: 1, hostname: "onboarding-7d9f8b6c5-abcde" })}\n`.length),
      );
    expect(longest(false)).to.be.within(Number(admitted) - 40, Number(admitted));
    expect(longest(true)).to.be.within(Number(refused) - 60, Number(refused));
  });
});
