import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export type MailOrder = { readonly do: "count" } | { readonly do: "stall"; readonly ms: number };

let taken = 0;
let stallMs = 0;

/** A fast mail server: it takes every message, and keeps none. A process of its own, so that it delays nobody's clock. */
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["AUTH", "STARTTLS"],
  disableReverseLookup: true,
  logger: false,
  onRcptTo: (_address, _session, done) => void (stallMs === 0 ? done() : setTimeout(done, stallMs)),
  onData(stream, _session, done) {
    stream.resume().once("end", () => {
      taken++;
      done();
    });
  },
});
server.on("error", () => undefined); // a connection that broke

process.on("disconnect", () => process.exit());
process.on("message", (order: MailOrder) => {
  if (order.do === "stall") stallMs = order.ms;
  process.send?.({ result: taken });
});
server.listen(0, "127.0.0.1");
await once(server.server, "listening");
process.send?.({ type: "ready", port: (server.server.address() as AddressInfo).port });
