import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Errors of `::` on a machine without IPv6. Node's own fallback to 0.0.0.0 would also hide a port that is taken. */
const NO_IPV6: readonly unknown[] = ["EAFNOSUPPORT", "EADDRNOTAVAIL"];

/**
 * Listens, and returns the port. @param port 0 picks a free one. @throws if it is taken, or the address is not of this machine.
 * @param host HOST. `::` is every address, IPv4 and IPv6, or those of IPv4 if the machine has no IPv6.
 */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    if (host !== "::" || !NO_IPV6.includes((error as NodeJS.ErrnoException).code)) throw error;
    await once(server.listen(port, "0.0.0.0"), "listening");
  }
  return (server.address() as AddressInfo).port;
}
