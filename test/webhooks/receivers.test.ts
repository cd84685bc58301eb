import { receiverRules } from "../../src/webhooks/receivers.ts";
import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useService, useSharedAccount } from "../support/use-service.ts";
import { createWebhook, webhookIn } from "./support.ts";

/** Refused with each of the settings. */
const NEVER = [
  "https://10.0.0.1/",
  "https://93.184.215.14/hooks",
  "https://93.184.215.14./hooks",
  "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
  "http://93.184.215.14/",
  "https://169.254.169.254/latest/meta-data",
  "http://169.254.169.254/latest/meta-data",
  "https://0.0.0.0/",
  "https://0/",
  "http://0/",
  "https://192.168.1.1/",
  "https://172.16.0.1/",
  "https://100.64.0.1/",
  "https://2851995905/",
  "https://0xa9.0xfe.0xa9.0xfe/",
  "https://0251.0376.0251.0376/",
  "https://①⑥⑨.254.169.254/",
  "https://[::]/",
  "https://[fe80::1]/",
  "https://[fc00::1]/",
  "https://[::ffff:169.254.169.254]/",
  "https://[::ffff:0:127.0.0.1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[64:ff9b:1::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://user:password@ats.example.com/",
  "https://user@ats.example.com/",
  "https://:password@ats.example.com/",
  "https://ats.example.com@10.0.0.1/",
  "https:\\\\user@ats.example.com/",
  "javascript:alert(1)",
  "data:text/plain,x",
  "file:///etc/passwd",
  "ftp://ats.example.com/",
  "ws://ats.example.com/",
  "gopher://ats.example.com/",
  "unix:/var/run/docker.sock",
  "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
  "blob:https://ats.example.com/x",
  "hooks",
  "/hooks",
  "//ats.example.com/hooks",
  "ats.example.com/hooks",
  "https:",
  "https://",
  "https:///",
  "https://?x",
  "https://ats.example.com:65536/",
  "https://ats.example.com:-1/",
  "https://ats.example.com:0/",
  "https://ats .example.com/",
  "https://ats%00.example.com/",
  "https://ats%2eexample.com%2f/",
  "https://[::1/",
  "https://[fe80::1%25eth0]/",
  "https://1.2.3.4.5/",
  "https://256.1.1.1/",
  "https://127.0.0.1.1/",
  "https://xn--/",
  " ",
];

/** Loopback, in all its forms. */
const LOOPBACK = [
  "http://127.0.0.1:9/",
  "https://127.0.0.1/",
  "http://127.1/",
  "http://127.0.0.1./",
  "http://0x7f000001/",
  "http://0X7F.1/",
  "http://2130706433/",
  "http://0177.0.0.1/",
  "http://017700000001/",
  "http://127.255.255.254/",
  "http://%31%32%37.0.0.1/",
  "http://①②⑦.0.0.1/",
  "http://127。0。0。1/",
  "http:\\\\127.0.0.1\\x",
  "http://12\t7.0.0.1/",
  "http://[::1]:9/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
];

/** Accepted with each of the settings, and what they are stored as. */
const NAMES: [sent: string, kept: string][] = [
  ["https://ats.example.com", "https://ats.example.com/"],
  ["HTTPS://ATS.Example.COM/Hooks", "https://ats.example.com/Hooks"],
  ["https://ats.example.com.:443/", "https://ats.example.com./"],
  ["https://ats.example.com:65535/?a=1&b=%20#c", "https://ats.example.com:65535/?a=1&b=%20#c"],
  ["https:\\\\ats.example.com\\hooks", "https://ats.example.com/hooks"],
  ["https://ats.example.com\\@10.0.0.1/", "https://ats.example.com/@10.0.0.1/"],
  ["https://ats.exam\tple.com/\nhooks", "https://ats.example.com/hooks"],
  [" https://ats.example.com/é ", "https://ats.example.com/%C3%A9"],
  ["https://büro.example/", "https://xn--bro-hoa.example/"],
  ["https://ats.example.com/a/../../b", "https://ats.example.com/b"],
  ["https://redis/", "https://redis/"],
  ["https://localhost/", "https://localhost/"],
];

/** http to names: accepted where some network is allowed, and judged at each delivery. */
const HTTP_NAMES = ["http://ats.example.com/", "http://redis:6379/"];
const HTTP_LOCAL = ["http://localhost/", "http://LOCALHOST./", "http://ats.localhost:8080/"];
const ALLOWED = ["http://10.1.2.3/", "https://10.1.255.255:8443/", "https://[fd00::7]/", "http://[::ffff:10.1.2.3]/"];

const SETTINGS = [
  {
    name: "outside of production",
    settings: {},
    accepted: [...LOOPBACK, ...HTTP_LOCAL],
    refused: [...HTTP_NAMES, ...ALLOWED],
  },
  {
    name: "in production",
    settings: { NODE_ENV: "production" },
    accepted: [],
    refused: [...LOOPBACK, ...HTTP_LOCAL, ...HTTP_NAMES, ...ALLOWED],
  },
  {
    name: "in production with WEBHOOK_ALLOWED_NETWORKS",
    settings: { NODE_ENV: "production", WEBHOOK_ALLOWED_NETWORKS: "10.1.0.0/16, fd00::/8" },
    accepted: [...ALLOWED, ...HTTP_NAMES, ...HTTP_LOCAL],
    refused: LOOPBACK,
  },
  {
    name: "in production with loopback allowed",
    settings: { NODE_ENV: "production", WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8,::1" },
    accepted: [...LOOPBACK, ...HTTP_LOCAL],
    refused: ALLOWED,
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
