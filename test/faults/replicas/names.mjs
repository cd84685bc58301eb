// Preloaded into a replica. Names under .test resolve to 127.0.0.1 while the file NAMES_FILE exists, and are unknown otherwise.
import dns from "node:dns";
import { existsSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { lookup } = dns;
dns.lookup = (hostname, options, callback) => {
  const done = typeof options === "function" ? options : callback;
  if (!hostname.endsWith(".test")) {
    lookup(hostname, options, callback);
    return;
  }
  const known = existsSync(process.env.NAMES_FILE);
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), {
    code: "ENOTFOUND",
    syscall: "getaddrinfo",
    hostname,
  });
  process.nextTick(() => {
    if (!known) done(error);
    else if (typeof options === "object" && options?.all) done(null, [{ address: "127.0.0.1", family: 4 }]);
    else done(null, "127.0.0.1", 4);
  });
};
syncBuiltinESMExports();
