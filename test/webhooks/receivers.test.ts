import { receiverRules } from "../../src/webhooks/receivers.ts";
import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useService, useSharedAccount } from "../support/use-service.ts";
import { createWebhook, webhookIn } from "./support.ts";

/** Refused with each of the settings. */
const NEVER = [
  "https://93.184.215.14/hooks http://10.0.0.1/ https://0/ https://2851995905/ https://①⑥⑨.254.169.254/",
  "https://[fe80::1]/ https://[::ffff:169.254.169.254]/ https://ats.example.com:0/ https://ats.example.com:65536/",
  "https://user@ats.example.com/ https://:password@ats.example.com/ https:\\\\user@ats.example.com/",
  "javascript:alert(1) ftp://ats.example.com/ /hooks //ats.example.com/hooks https:// https://256.1.1.1/",
].flatMap((line) => line.split(" "));

const LOOPBACK = [
  "http://127.0.0.1:9/ https://127.1/ http://0x7f000001/ http://2130706433/ http://①②⑦.0.0.1/",
  "http://[::1]:9/ http://[::ffff:127.0.0.1]/ http://localhost/ http://ats.localhost.:8080/",
].flatMap((line) => line.split(" "));

/** Accepted with each of the settings, and what they are stored as. */
const NAMES: [sent: string, kept: string][] = [
  ["HTTPS://ATS.Example.COM", "https://ats.example.com/"],
  ["https://ats.example.com:65535/?a=1&b=%20#c", "https://ats.example.com:65535/?a=1&b=%20#c"],
  ["https://ats.example.com\\@10.0.0.1/", "https://ats.example.com/@10.0.0.1/"],
  [" https://ats.exam\tple.com/é ", "https://ats.example.com/%C3%A9"],
  ["https://büro.example/", "https://xn--bro-hoa.example/"],
  ["https://localhost/", "https://localhost/"],
];

/** Accepted where some network is allowed: names with http, which are judged at each delivery, and addresses that are in one. */
const ALLOWED = ["http://redis:6379/", "http://10.1.2.3/", "https://[fd00::7]/", "http://[::ffff:10.1.2.3]/"];

const SETTINGS = [
  { name: "outside of production", settings: {}, accepted: LOOPBACK, refused: ALLOWED },
  {
    name: "in production",
    settings: { NODE_ENV: "production" },
    accepted: [],
    refused: [...LOOPBACK, ...ALLOWED],
  },
  {
    name: "in production with WEBHOOK_ALLOWED_NETWORKS",
    settings: { NODE_ENV: "production", WEBHOOK_ALLOWED_NETWORKS: "10.1.0.0/16, fd00::/8" },
    accepted: [...ALLOWED, "http://localhost/"],
    refused: LOOPBACK.filter((url) => !url.includes("localhost")),
  },
];

for (const { name, settings, accepted, refused } of SETTINGS)
  describe(`the url of a webhook ${name}`, () => {
    const service = useService({ LIMIT_SCALE: 1_000, ...settings });
    const { client } = useSharedAccount(service);
    let path = "";
    before(async () => {
      ({ path } = await createWebhook(client, { url: "https://fresh.example.com/" }));
    });

    it("is refused at /url, on create and PATCH, if it may not be sent to", async () => {
      const all = [...NEVER, ...refused].map(async (url) => {
        for (const answer of [await client.post("/webhooks", { url }), await client.patch(path, { url })]) {
          expect(answer.status, url).to.equal(422);
          const [fault, ...others] = expectProblem(answer, 422, "validation_failed").errors;
          expect(others).to.deep.equal([]);
          expect(fault?.pointer).to.equal("/url");
          expect(fault?.detail, url).to.match(/^must (be|begin|have|not have) /);
        }
      });
      await Promise.all(all);
      expect(webhookIn(await client.get(path))).to.include({ url: "https://fresh.example.com/", version: 1 });
    });

    it("is accepted if it may be, and kept in the form that it is read in", async () => {
      const kept = accepted.map((url) => [url, new URL(url).href] as const);
      for (const [url, stored] of [...NAMES, ...kept])
        expect((await client.patch(path, { url })).body, url).to.include({ url: stored });
    });
  });

describe("the url of a webhook with letters beyond ASCII", () => {
  it("is accepted however often one was read before", () => {
    const { faultOf } = receiverRules({ isProduction: true, allowed: [] });
    const faults = Array.from({ length: 50_000 }, () => faultOf("https://büro.example/"));
    expect(new Set(faults)).to.deep.equal(new Set([undefined]));
  });
});
