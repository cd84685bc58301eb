import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Every address of the machine. A socket of this address takes IPv4 connections too. */
const ANY = "::";
const ANY_IPV4 = "0.0.0.0";

/** What the kernel answers to `::` if it has no IPv6. */
const NO_IPV6: readonly unknown[] = ["EAFNOSUPPORT", "EADDRNOTAVAIL"];

/**
 * Listens, and returns the port.
 * @param port 0 picks a free one.
 * @param host HOST. `::` is every address, IPv4 and IPv6; where there is no IPv6, those of IPv4.
 * @throws if the port is taken, or the address is not one of this machine.
 */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  try {
    await once(server.listen(port, host), "listening");
  } catch (error) {
    if (host !== ANY || !NO_IPV6.includes((error as NodeJS.ErrnoException).code)) throw error;
    await once(server.listen(port, ANY_IPV4), "listening");
  }
  return (server.address() as AddressInfo).port;
}
