import { expect } from "chai";
import { ConfigError, describeConfig, readConfig, type SettingName } from "../src/config.ts";
import { expectTable } from "./support/snapshot.ts";

/** The smallest and the largest value of each setting that is a number. */
const BOUNDS: Partial<Record<SettingName, [smallest: number, largest: number]>> = {
  PORT: [0, 65_535],
  OPS_PORT: [0, 65_535],
  REPLICAS: [1, 64],
  TRUSTED_PROXIES: [0, 10],
  ACTIVE_KEY_CAP: [1, 100],
  MAX_DOCUMENT_BYTES: [1, 1_073_741_824],
  BODY_TIMEOUT_MS: [100, 600_000],
  STORE_TIMEOUT_MS: [100, 60_000],
  RETENTION_NOTICE_HOURS: [0, 720],
  LIMITER_TIMEOUT_MS: [5, 10_000],
  REPLICAS_EXPECTED: [1, 10_000],
  MAIL_PER_MINUTE: [1, 100_000],
  MAIL_CONNECTIONS: [1, 50],
  MAIL_PER_ACCOUNT_PER_DAY: [1, 1_000_000],
  MAIL_NEW_ADDRESSES_PER_DAY: [1, 1_000_000],
  MAIL_PER_ADDRESS_PER_DAY: [1, 1_000],
  LIMIT_WINDOW_SECONDS: [1, 86_400],
  LIMIT_SCALE: [1, 1_000_000],
};

/** The protocols of each setting that is a URL. */
const PROTOCOLS = {
  MONGODB_URL: ["mongodb:", "mongodb+srv:"],
  REDIS_URL: ["redis:", "rediss:", "redis+sentinel:", "rediss+sentinel:", "redis+cluster:", "rediss+cluster:"],
  OTEL_EXPORTER_OTLP_ENDPOINT: ["http:", "https:"],
} as const;

/** Returns the settings that are refused. */
function refused(env: Partial<Record<SettingName, string>>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n").map((line) => line.split(":")[0] ?? "");
  }
}

describe("the settings", () => {
  it("are the defaults if nothing is set, or if a value is empty", () => {
    const defaults = readConfig({});
    expect(defaults).to.include({ PORT: 8080, LIMITER_ON_OUTAGE: "refuse", MAX_DOCUMENT_BYTES: 26_214_400 });
    expect(readConfig(Object.fromEntries(Object.keys(defaults).map((name) => [name, ""])))).to.deep.equal(defaults);
  });

  it("that are numbers all have their bounds in this test", () => {
    const numbers = Object.entries(readConfig({})).filter(([, value]) => typeof value === "number");
    expect(Object.keys(BOUNDS)).to.have.members(numbers.map(([name]) => name));
  });

  for (const [name, [smallest, largest]] of Object.entries(BOUNDS)) {
    it(`take ${name} from ${smallest} to ${largest}, and nothing else`, () => {
      for (const value of [smallest, largest])
        expect(readConfig({ [name]: String(value) })).to.have.property(name, value);
      for (const value of [smallest - 1, largest + 1, `${smallest}.5`, `${largest} `, "0x10", "1e2", "many"])
        expect(refused({ [name]: String(value) }), String(value)).to.deep.equal([name]);
    });
  }

  it("that are words take those words only, and URLs only of the right servers", () => {
    expect(readConfig({ LIMITER_ON_OUTAGE: "local" }).LIMITER_ON_OUTAGE).to.equal("local");
    expect(refused({ LIMITER_ON_OUTAGE: "LOCAL" })).to.deep.equal(["LIMITER_ON_OUTAGE"]);
    expect(refused({ LOG_LEVEL: "loud" })).to.deep.equal(["LOG_LEVEL"]);
    expect(readConfig({ REDIS_URL: "rediss://a" }).REDIS_URL).to.equal("rediss://a");
    expect(refused({ REDIS_URL: "http://a" })).to.deep.equal(["REDIS_URL"]);
    expect(refused({ MONGODB_URL: "mongodb:a" })).to.deep.equal(["MONGODB_URL"]);
  });

  for (const [name, protocols] of Object.entries(PROTOCOLS)) {
    it(`take ${name} with ${protocols.join(", ")}, and with nothing else`, () => {
      for (const protocol of protocols)
        expect(readConfig({ [name]: `${protocol}//host` })).to.have.property(name, `${protocol}//host`);
      for (const wrong of ["//host", "host", "ftp://host", `${protocols[0]}host`, `host${protocols[0]}//`])
        expect(() => readConfig({ [name]: wrong }), wrong).to.throw(
          ConfigError,
          `${name}: must begin with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`,
        );
    });
  }

  it("are described with their values and defaults, and only URLs without their users", () => {
    const given = { ADMIN_ACTOR: "//ann@desk", REDIS_URL: "redis://ann:secret@host", LIMIT_SCALE: "2" };
    const described = describeConfig(readConfig(given));
    const shown = (name: SettingName) => {
      const { value, default: fallback } = described.find((each) => each.name === name) ?? {};
      return [value, fallback];
    };
    expect(shown("ADMIN_ACTOR")).to.deep.equal(["//ann@desk", ""]);
    expect(shown("REDIS_URL")).to.deep.equal(["redis://…@host", null]);
    expect(shown("MONGODB_URL")).to.deep.equal([null, null]);
    expect(shown("LIMIT_SCALE")).to.deep.equal([2, 1]);
    expect(shown("LOG_LEVEL")).to.deep.equal(["info", "info"]);
  });

  it("are listed in the operators' guide (UPDATE_SNAPSHOT=1 writes the list)", async () => {
    const settings = describeConfig(readConfig({})).map((each) => [each.name, `${each.default ?? ""}`, each.help]);
    await expectTable("src/docs/operating.md", "settings", [["name", "default", "what it is"], ...settings]);
  });

  it("of mail are needed together, and PUBLIC_URL has no path", () => {
    const mail = { SMTP_URL: "smtp://host", MAIL_FROM: "jobs@example.com", PUBLIC_URL: "https://hire.example.com/" };
    expect(refused(mail)).to.deep.equal([]);
    expect(refused({ ...mail, SMTP_URL: "file:///outbox" })).to.deep.equal([]);
    expect(refused({ ...mail, PUBLIC_URL: "http://127.0.0.1:8080" })).to.deep.equal([]);
    expect(refused({ SMTP_URL: "smtp://host" })).to.deep.equal(["MAIL_FROM", "PUBLIC_URL"]);
    for (const PUBLIC_URL of ["https://a.example/hire", "https://a.example/?x=1", "https://a.example/#x", "https://"])
      expect(refused({ ...mail, PUBLIC_URL }), PUBLIC_URL).to.deep.equal(["PUBLIC_URL"]);
    for (const MAIL_FROM of ["jobs", "Jobs <jobs@example.com>", "a@b@c"])
      expect(refused({ ...mail, MAIL_FROM }), MAIL_FROM).to.deep.equal(["MAIL_FROM"]);
    for (const SMTP_URL of ["smtp://", "file://host/outbox", "smtp://host:port"])
      expect(refused({ ...mail, SMTP_URL }), SMTP_URL).to.deep.equal(["SMTP_URL"]);
  });

  it("that are wrong are all named at once", () => {
    expect(refused({ PORT: "-1", REPLICAS: "0", LOG_LEVEL: "loud" })).to.deep.equal(["PORT", "REPLICAS", "LOG_LEVEL"]);
  });
});
