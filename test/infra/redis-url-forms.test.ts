import { expect } from "chai";
import { parseRedisUrl } from "../../src/infra/redis-url.ts";

const SENTINEL = {
  form: "sentinel",
  tls: false,
  sentinels: [{ host: "h1", port: 26379 }],
  name: "limits",
  db: 0,
  credentials: {},
  sentinelCredentials: {},
};
const CLUSTER = { form: "cluster", tls: false, nodes: [{ host: "h1", port: 6379 }], credentials: {} };

const ACCEPTED: Record<string, object> = {
  "redis://h1": { form: "standalone", url: "redis://h1" },
  "rediss://u:p@h:1/2": { form: "standalone", url: "rediss://u:p@h:1/2" },
  "redis+sentinel://ann:p%40ss@h1:5,[::1]/limits/3": {
    ...SENTINEL,
    sentinels: [
      { host: "h1", port: 5 },
      { host: "::1", port: 26379 },
    ],
    db: 3,
    credentials: { username: "ann", password: "p@ss" },
  },
  "rediss+sentinel://:of-redis@h1/limits?sentinelUsername=s%26n&sentinelPassword=a+b%3D%2F": {
    ...SENTINEL,
    tls: true,
    credentials: { password: "of-redis" },
    sentinelCredentials: { sentinelUsername: "s&n", sentinelPassword: "a+b=/" },
  },
  "redis+sentinel://h1/limits": SENTINEL,
  "redis+sentinel://h1/limits/": SENTINEL,
  "redis+sentinel://h1/limits?": SENTINEL,
  "redis+sentinel://h1/limits/0": SENTINEL,
  "redis+sentinel://h1/limits/12": { ...SENTINEL, db: 12 },
  "redis+sentinel://h1/limits/12/?sentinelUsername=sen": {
    ...SENTINEL,
    db: 12,
    sentinelCredentials: { sentinelUsername: "sen" },
  },
  "rediss+sentinel://h1/limits?sentinelPassword=": {
    ...SENTINEL,
    tls: true,
    sentinelCredentials: { sentinelPassword: "" },
  },
  "redis+sentinel://h1/limits?sentinelPassword": { ...SENTINEL, sentinelCredentials: { sentinelPassword: "" } },
  "redis+sentinel://h1/the%20limits": { ...SENTINEL, name: "the limits" },
  "redis+sentinel://@h1/limits": SENTINEL,
  "redis+sentinel://ann@h1/limits": { ...SENTINEL, credentials: { username: "ann" } },
  "redis+sentinel://ann:@h1/limits": { ...SENTINEL, credentials: { username: "ann", password: "" } },
  "redis+cluster://h1": CLUSTER,
  "redis+cluster://h1/": CLUSTER,
  "rediss+cluster://h1:6379": { ...CLUSTER, tls: true },
  "redis+cluster://ann:p:ss:@h1": { ...CLUSTER, credentials: { username: "ann", password: "p:ss:" } },
  "redis+sentinel://ann:p:ss@h1/limits": { ...SENTINEL, credentials: { username: "ann", password: "p:ss" } },
  "redis+sentinel://h1/limits?sentinelPassword=a=b==": {
    ...SENTINEL,
    sentinelCredentials: { sentinelPassword: "a=b==" },
  },
  "redis+cluster://%40nn:%3A@h1": { ...CLUSTER, credentials: { username: "@nn", password: ":" } },
  "redis+cluster://[2001:db8::1]:7000,10.0.0.1,node-1.example:7001": {
    ...CLUSTER,
    nodes: [
      { host: "2001:db8::1", port: 7000 },
      { host: "10.0.0.1", port: 6379 },
      { host: "node-1.example", port: 7001 },
    ],
  },
};

const REFUSED = [
  "",
  "http://h",
  "xredis://h1",
  "redis:/h1",
  "redisx://h1",
  "xredis+cluster://h1",
  "redisss+cluster://h1",
  "redis+others://h1/limits",
  "redis+cluster:/h1",
  "redis+cluster://",
  "redis+cluster://h1#part",
  "redis+cluster://h1?",
  "redis+cluster://ann@bob@h1",
  "redis+cluster://h1:port",
  "redis+cluster://h1:1/name",
  "redis+cluster://h1:1?sentinelPassword=p",
  "redis+sentinel:///name",
  "redis+sentinel://ann/bob@h1/limits",
  "redis+sentinel://h1/",
  "redis+sentinel://h1?limits",
  "redis+sentinel://h1/limits/x",
  "redis+sentinel://h1/limits/1x",
  "redis+sentinel://h1/limits/1/2",
  "redis+sentinel://h1/limits#part",
  "redis+sentinel://h1/limits?sentinelUsername=a#part",
];

describe("The forms of REDIS_URL", () => {
  for (const [url, address] of Object.entries(ACCEPTED))
    it(`include ${url}`, () => {
      expect(parseRedisUrl(url)).to.deep.equal(address);
    });

  for (const url of REFUSED)
    it(`do not include ${url}, and the error does not repeat it`, () => {
      expect(() => parseRedisUrl(url)).to.throw(
        Error,
        /^REDIS_URL must be redis:\/\/…, rediss:\/\/…, redis\+sentinel:\/\/host:port,host:port\/NAME or redis\+cluster:\/\/host:port,host:port, with TLS/,
      );
    });

  for (const query of ["password=two", "sentinelpassword=two", "sentinelUsername=sen&password=two", "two", "&"])
    it(`take the Sentinels' user and password only, and not ?${query}`, () => {
      expect(() => parseRedisUrl(`redis+sentinel://h1/limits?${query}`)).to.throw(
        Error,
        /^REDIS_URL takes only the query parameters sentinelUsername and sentinelPassword\. Percent-encode & in them as %26\.$/,
      );
    });
});
