import { expect } from "chai";
import { UsageError } from "./lib/host.ts";
import { readSettings } from "./lib/settings.ts";
import { runLoad } from "./support.ts";

const TARGET = { BASE_URL: "http://127.0.0.1:1/", KEYS: "a, b" };

describe("the settings of a load test", () => {
  const refusal = (given: Record<string, string>): string => {
    try {
      readSettings(given);
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
    return "accepted";
  };

  it("have defaults within bounds, for all surfaces", () => {
    const { surfaces, ...settings } = readSettings(TARGET);
    expect(settings).to.deep.equal({
      baseUrl: "http://127.0.0.1:1",
      keys: ["a", "b"],
      connections: 40,
      durationMs: 60_000,
      maxWaitMs: 120_000,
      p99Ms: undefined,
    });
    expect(surfaces).to.have.length(7);
    expect(readSettings({ ...TARGET, SURFACES: "list,pack" }).surfaces).to.deep.equal(["list", "pack"]);
  });

  it("say what is wrong with them", () => {
    expect(refusal({ ...TARGET, CONNECTIONS: "0.5" })).to.equal(
      'CONNECTIONS must be a whole number above 0, not "0.5".',
    );
    expect(refusal({ ...TARGET, DURATION: "long" })).to.include("DURATION must be a whole number above 0");
    expect(refusal({ ...TARGET, SURFACES: "lists" })).to.include("The surfaces are create, start, ");
    expect(refusal({ BASE_URL: "http://localhost" })).to.include("KEYS is missing");
  });

  it("ask for a yes beyond this machine", () => {
    const asks = (BASE_URL: string, YES = ""): boolean =>
      /is not this machine|must be the URL/.test(refusal({ BASE_URL, KEYS: "k", YES }));
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

describe("the command line of npm run load", () => {
  it("has a help that names every scenario and setting", async () => {
    const { code, output } = await runLoad(["--help"]);
    expect(code).to.equal(0);
    for (const word of ["smoke", "exactness", "soak", "stampede", "backfill", "--yes 1", "--base-url", "--max-wait"])
      expect(output).to.include(word);
  });

  it("exits with 2 if it is wrong", async () => {
    const wrong = await Promise.all([
      runLoad(["soak", "--base-url", "http://198.51.100.1", "--keys", "k"]),
      runLoad(["soaks", "--base-url", "http://localhost", "--keys", "k"]),
      runLoad(["soak", "--conections", "3"]),
      runLoad([], TARGET),
    ]);
    const said = [
      "198.51.100.1 is not this machine. Set YES=1",
      'no scenario "soaks"',
      "--conections",
      "one scenario:",
    ];
    for (const [index, { code, output }] of wrong.entries()) {
      expect(output).to.include(said[index]);
      expect(code).to.equal(2);
    }
  });
});
