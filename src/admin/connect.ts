import type { AccountService } from "../accounts/service.ts";
import type { AuditTrail } from "../audit/trail.ts";
import type { Config } from "../config.ts";
import type { GrantService } from "../grants/service.ts";
import type { LimitsService } from "../limits/service.ts";
import { Servers } from "./servers.ts";

/** What commands work with. @throws {ConnectError} (each) when a server it needs is not known or does not answer. */
export interface Services {
  readonly accounts: () => Promise<AccountService>;
  readonly grants: () => Promise<GrantService>;
  readonly limits: () => Promise<LimitsService>;
  readonly audit: () => Promise<AuditTrail>;
  /** Sets the commands' clock right by Redis's, for times that have to be exact. */
  readonly setClock: () => Promise<void>;
}

/** What a command may use. A server is connected to, and its driver loaded, when it is first needed. */
export interface Connections extends Services {
  readonly config: Config;
}

/** Runs `work` with connections that end with it, whatever becomes of it. */
export async function withConnections<T>(config: Config, work: (connections: Connections) => Promise<T>): Promise<T> {
  const servers = new Servers(config);
  let loaded: Promise<Services> | undefined;
  const services = () => (loaded ??= import("./services.ts").then(({ servicesOver }) => servicesOver(servers, config)));
  try {
    return await work({
      config,
      accounts: async () => (await services()).accounts(),
      grants: async () => (await services()).grants(),
      limits: async () => (await services()).limits(),
      audit: async () => (await services()).audit(),
      setClock: async () => (await services()).setClock(),
    });
  } finally {
    await servers.close();
  }
}
