import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { expect } from "chai";
import { listen } from "../../src/process/listen.ts";
import { useNoService } from "../support/use-service.ts";

describe("listening on HOST", () => {
  useNoService();
  let server: Server;
  beforeEach(() => (server = createServer()));
  afterEach(() => server.close());

  /** Makes the server fail to listen on `::`, as on a machine of this kind. */
  function fails(code: string): void {
    const original = server.listen.bind(server);
    server.listen = ((port: number, host: string) => {
      if (host !== "::") return original(port, host);
      process.nextTick(() => server.emit("error", Object.assign(new Error(`listen ${code}`), { code })));
      return server;
    }) as typeof server.listen;
  }

  for (const code of ["EAFNOSUPPORT", "EADDRNOTAVAIL"])
    it(`takes 0.0.0.0 if HOST is :: and the machine has no IPv6 (${code})`, async () => {
      fails(code);
      const port = await listen(server, 0, "::");
      expect(server.address()).to.deep.equal({ address: "0.0.0.0", family: "IPv4", port });
    });

  it("fails if the port is taken, also where :: fails first", async () => {
    const taken = await listen(server, 0, "::");
    const other = createServer();
    const failed = await listen(other, taken, "::").catch((error: NodeJS.ErrnoException) => error.code);
    expect(failed).to.equal("EADDRINUSE");
    const [closed] = [once(server, "close"), server.close()];
    await closed;
    server = createServer();
    fails("EACCES");
    const refused = await listen(server, 0, "::").catch((error: NodeJS.ErrnoException) => error.code);
    expect(refused).to.equal("EACCES");
  });

  it("takes no other address than HOST", async () => {
    const failed = await listen(server, 0, "192.0.2.7").catch((error: NodeJS.ErrnoException) => error.code);
    expect(failed).to.equal("EADDRNOTAVAIL");
  });
});
