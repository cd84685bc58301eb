import { urlToHttpOptions } from "node:url";
import type { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { createTransport } from "nodemailer";
import { expect } from "chai";
import { type Config, describeConfig, readConfig, type SettingName } from "../src/config.ts";
import { createClient } from "../src/infra/redis.ts";
import { parseRedisUrl } from "../src/infra/redis-url.ts";
import { connectionOf } from "../src/reminders/mailer.ts";
import { withoutCredentials } from "../src/urls.ts";
import { useNoService } from "./support/use-service.ts";

/** Every ASCII character that is neither a letter nor a digit, and some others. */
const CHARACTERS = [
  ...Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)),
  " ",
  "\t",
  "\n",
  "ü",
  "€",
  "🔑",
].filter((character) => !/[a-z0-9]/i.test(character));

/** What a user or a password may not have as it is: it ends there, a driver refuses it, or it gets lost. */
const RESERVED = ["/", "?", "#", "@", "[", "]", "\\", "%", " ", "\t", "\n"];

type Password = string | undefined;

/** Returns the password that the client of REDIS_URL has. */
function ofRedis(config: Config): Password {
  const client = createClient(parseRedisUrl(config.REDIS_URL ?? ""), 1_000).on("error", () => undefined) as Redis;
  client.disconnect();
  return client.options.password;
}

/** The URLs that may hold a password, each with what its client makes of it. PASSWORD stands for the password. */
const FORMS: [name: SettingName, url: string, read: (config: Config) => Password][] = [
  ["REDIS_URL", "redis://ann:PASSWORD@127.0.0.1:1/2", ofRedis],
  ["REDIS_URL", "rediss://:PASSWORD@127.0.0.1:1", ofRedis],
  ["REDIS_URL", "redis+sentinel://ann:PASSWORD@127.0.0.1:1,127.0.0.1:2/limits/3", ofRedis],
  ["REDIS_URL", "redis+cluster://:PASSWORD@h1:1,[::1]:2", ({ REDIS_URL }) => inCluster(REDIS_URL)],
  ["MONGODB_URL", "mongodb://ann:PASSWORD@h1:1,h2:2/data?authSource=admin", ofMongo],
  ["MONGODB_URL", "mongodb+srv://ann:PASSWORD@cluster.example", ofMongo],
  ["SMTP_URL", "smtp://ann:PASSWORD@mail.example:587?name=hire.example", ofMail],
  ["SMTP_URL", "smtps://ann:PASSWORD@[2001:db8::1]", ofMail],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "https://ann:PASSWORD@collector.example:4318/otlp",
    ({ OTEL_EXPORTER_OTLP_ENDPOINT }) =>
      urlToHttpOptions(new URL(OTEL_EXPORTER_OTLP_ENDPOINT ?? "")).auth?.slice("ann:".length),
  ],
];

function inCluster(url: string | null): Password {
  const address = parseRedisUrl(url ?? "");
  return address.form === "cluster" ? address.credentials.password : undefined;
}

function ofMongo({ MONGODB_URL }: Config): Password {
  return new MongoClient(MONGODB_URL ?? "").options.credentials?.password;
}

function ofMail({ SMTP_URL }: Config): Password {
  const { options } = createTransport(connectionOf(SMTP_URL ?? "", "hire.example")) as {
    options: { auth?: { pass?: string } };
  };
  return options.auth?.pass;
}

/** Returns the error's message, or what `read` returns. */
function outcome<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a password in a URL of the settings", () => {
  useNoService();
  for (const [name, url, read] of FORMS) {
    const given = (password: string) =>
      readConfig({
        MAIL_FROM: "a@b.example",
        PUBLIC_URL: "https://hire.example",
        [name]: url.replace("PASSWORD", () => password),
      });

    it(`may have any character that is percent-encoded: ${url}`, () => {
      for (const character of CHARACTERS) {
        const password = `${character}s3${character}cret${character}`;
        expect(read(given(encodeURIComponent(password))), character).to.equal(password);
      }
    });

    it(`may have a raw character, or an error names it with its code and shows no part of the password: ${url}`, () => {
      for (const character of CHARACTERS) {
        const password = `s3${character}cret`;
        const seen = outcome(() => read(given(password)));
        if (!RESERVED.includes(character)) {
          expect(seen, character).to.equal(password);
          continue;
        }
        const shown = /\s/.test(character) ? "white space" : character;
        expect(seen).to.equal(
          `${name}: percent-encode the user and the password: write ${shown} as ${encodeURIComponent(character)}`,
        );
      }
    });

    it(`is shown by no error and by no table, whatever it is: ${url}`, () => {
      for (const first of ["", "12", "s3"])
        for (const one of CHARACTERS)
          for (const other of RESERVED) {
            const seen = outcome(() => JSON.stringify(describeConfig(given(`${first}${one}zq${other}xj`))));
            expect(seen).not.to.match(/zq|xj/);
          }
    });
  }

  it("of Sentinels is in the query, where only %, & and # must be percent-encoded", () => {
    const read = (password: string) => {
      const { REDIS_URL } = readConfig({ REDIS_URL: `redis+sentinel://h1/limits?sentinelPassword=${password}` });
      const address = parseRedisUrl(REDIS_URL ?? "");
      return address.form === "sentinel" ? address.sentinelCredentials.sentinelPassword : undefined;
    };
    for (const character of CHARACTERS) {
      const password = `s3${character}cret`;
      expect(read(encodeURIComponent(password)), character).to.equal(password);
      const seen = outcome(() => read(password));
      if (["%", "&", "#"].includes(character))
        expect(seen)
          .to.match(/^REDIS_URL/)
          .and.include(encodeURIComponent(character))
          .and.not.match(/s3|cret/);
      else expect(seen, character).to.equal(password);
    }
  });

  it("is shown by no error and by no table if its @ is missing or encoded", () => {
    for (const scheme of ["mongodb", "mongodb+srv", "redis", "redis+sentinel", "redis+cluster", "smtp"])
      for (const end of ["", "%40h1", "%40h1:1,h2:2", "%40h1/name", "[", ":1"]) {
        const name = scheme.startsWith("mongo") ? "MONGODB_URL" : scheme === "smtp" ? "SMTP_URL" : "REDIS_URL";
        const seen = outcome(() =>
          JSON.stringify(describeConfig(readConfig({ [name]: `${scheme}://ann:s3zq${end}` }))),
        );
        expect(seen).to.equal(`${name}: must be a valid URL: check its host and its port`);
      }
  });

  it("is shown by no error and by no table if it is in the query and has a raw ampersand", () => {
    for (const [name, url] of [
      ["MONGODB_URL", "mongodb://h1/data?tls=true&tlsCertificateKeyFilePassword=s3&zq"],
      ["MONGODB_URL", "mongodb://ann@h1/data?authMechanismProperties=AWS_SESSION_TOKEN:s3&zq&w=1"],
      ["MONGODB_URL", "mongodb://h1/data?proxyHost=h2&proxyUsername=ann&proxyPassword=s3&zq&xj"],
      ["REDIS_URL", "redis+sentinel://h1/limits?sentinelPassword=s3&zq"],
      ["REDIS_URL", "redis://h1?password=s3&zq"],
    ] as const) {
      expect(outcome(() => readConfig({ [name]: url }))).to.equal(
        `${name}: percent-encode the user and the password: write & as %26`,
      );
      expect(withoutCredentials(url)).not.to.match(/s3|zq|xj/);
    }
  });

  it("may be named several characters at once", () => {
    expect(outcome(() => readConfig({ MONGODB_URL: "mongodb://ann:a/b@c?d@h1,h2/data" }))).to.equal(
      "MONGODB_URL: percent-encode the user and the password: write / as %2F, @ as %40, ? as %3F",
    );
  });

  it("is not looked for where there is none", () => {
    for (const [name, url] of [
      ["REDIS_URL", "redis://host:6379/2?family=6"],
      ["REDIS_URL", "redis+sentinel://h1:1,[::1]:2/limits?sentinelUsername=ann@corp"],
      ["MONGODB_URL", "mongodb://h1:1,h2:2/data?appName=ann@desk"],
      ["SMTP_URL", "file:///home/ann@desk/outbox"],
      ["SMTP_URL", "smtp://ann@mail.example"],
      ["PUBLIC_URL", "https://hire.example:8443/"],
    ] as const)
      expect(readConfig({ MAIL_FROM: "a@b.example", PUBLIC_URL: "https://hire.example", [name]: url })[name]).to.equal(
        url,
      );
  });
});
