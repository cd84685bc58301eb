import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { accountWithKeys } from "../support/processes.ts";
import { useProcesses } from "../support/use-service.ts";
import { UsageError } from "./lib/host.ts";
import { readSettings } from "./lib/settings.ts";
import { readCommand } from "./node/options.ts";
import { runLoad } from "./support.ts";

const TARGET = ["--url", "http://127.0.0.1:1", "--key", "k"];

describe("npm run load", function () {
  this.timeout(60_000);
  const service = useProcesses({ REPLICAS: 4 });
  const target = async (): Promise<string[]> => {
    const { keys } = await accountWithKeys(service, 2);
    return ["--url", service.url, ...keys.flatMap(({ client }) => ["--key", client.key])];
  };

  it("prints its help", async () => {
    const { code, output } = await runLoad(["--help"]).ended;
    expect(code).to.equal(0);
    for (const word of ["smoke", "exactness", "soak", "stampede", "backfill", "--yes"]) expect(output).to.include(word);
  });

  it("exits with 2 if the command line is wrong", async () => {
    const { code, output } = await runLoad(["soak", "--url", "http://198.51.100.1", "--key", "k"]).ended;
    expect(output).to.include("198.51.100.1 is not this machine. Write --yes");
    expect(code).to.equal(2);
  });

  it("stops at Ctrl-C, and prints what was seen", async () => {
    const { id, keys } = await accountWithKeys(service, 1);
    const requested = service.logged(({ account, surface }) => account === id && surface !== undefined);
    const args = ["soak", "--url", service.url, "--key", keys[0]!.client.key];
    const { child, ended } = runLoad(args);
    await requested;
    const signalledAt = performance.now();
    child.kill("SIGINT");
    const { code, output } = await ended;
    expect(performance.now() - signalledAt).to.be.lessThan(10_000);
    expect(output)
      .to.include("The run was stopped before its end.")
      .and.to.match(/all keys\D+[1-9]/);
    expect(code).to.equal(1);
  });

  it("stops at its bound, and claims nothing", async () => {
    const { code, output } = await runLoad(["exactness", ...(await target()), "--max-requests", "100"]).ended;
    expect(output).to.include("The run reached its bound of 100 requests.");
    expect(code).to.equal(1);
  });

  it("draws a picture into the file that it is given, and prints no control characters into a log", async () => {
    const picture = join(mkdtempSync(join(tmpdir(), "onboarding-picture-")), "new", "picture.svg");
    const { code, output } = await runLoad(["smoke", ...(await target()), "--picture", picture]).ended;
    expect(output).to.include(`picture: ${picture}`).and.not.to.include("\u001b");
    expect(code).to.equal(0);
    expect(existsSync(picture)).to.equal(true);
    expect(readFileSync(picture, "utf8")).to.match(/^<svg/).and.to.include("answers in a second");
  });
});

describe("the command line of npm run load", () => {
  const refusal = (...args: string[]): string => {
    try {
      readCommand(args, {});
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
    throw new Error("It was accepted.");
  };

  it("runs exactness by default, within bounds", () => {
    const command = readCommand(TARGET, {});
    expect(command).to.deep.include({ scenario: "exactness", picture: undefined });
    if (command === "help") throw new Error("It was help.");
    expect(command.settings).to.deep.include({
      connections: 40,
      maxRequests: 20_000,
      durationMs: 60_000,
      maxWaitMs: 120_000,
    });
  });

  it("takes several keys, one by one, in a list or from KEYS", () => {
    const keys = (args: string[], env: NodeJS.ProcessEnv = {}): unknown => {
      const command = readCommand(["--url", "http://localhost", ...args], env);
      return command === "help" ? command : command.settings.keys;
    };
    expect(keys(["--key", "a,b", "--key", "c"])).to.deep.equal(["a", "b", "c"]);
    expect(keys([], { KEYS: "a, b" })).to.deep.equal(["a", "b"]);
  });

  it("refuses what it does not know, with the nearest name", () => {
    expect(refusal(...TARGET, "--connections", "0.5")).to.equal('--connections must be a whole number, not "0.5".');
    expect(refusal(...TARGET, "--max-requests", "9.5")).to.equal('--max-requests must be a whole number, not "9.5".');
    expect(refusal(...TARGET, "--conections", "3")).to.include("The nearest is --connections");
    expect(refusal("soaks", ...TARGET)).to.include('The nearest is "soak"');
    expect(refusal("soak", "smoke", ...TARGET)).to.include("one argument too many");
    expect(refusal(...TARGET, "--surfaces", "lists")).to.include("The surfaces are create, list");
    expect(refusal(...TARGET, "--duration", "long")).to.include("--duration must be a number above 0");
    expect(refusal("--url", "http://localhost")).to.include("--key is missing");
  });

  it("asks for a yes beyond this machine", () => {
    const asks = (BASE_URL: string, YES?: string): boolean => {
      try {
        readSettings({ BASE_URL, KEYS: "k", YES });
        return false;
      } catch (error) {
        return /is not this machine|must be the URL/.test(String(error));
      }
    };
    for (const url of ["http://localhost:8080", "http://127.0.0.1", "http://127.1.2.3:80/", "https://[::1]:8443"])
      expect(asks(url), url).to.equal(false);
    for (const url of [
      "http://api.example.com",
      "http://127.0.0.1.example.com",
      "http://localhost.example.com",
      "http://10.0.0.1",
      "http://[::2]",
      "http://localhost@example.com",
      "http://example.com#@localhost",
    ])
      expect(asks(url), url).to.equal(true);
    expect(asks("https://api.example.com", "1")).to.equal(false);
    expect(asks("ftp://localhost", "1")).to.equal(true);
  });
});
