import { userInfo } from "node:os";
import type { Config } from "../config.ts";

/** Returns the operator's name for the audit: ADMIN_ACTOR, else the user who called sudo, else the current user. */
export function actorOf({ ADMIN_ACTOR }: Pick<Config, "ADMIN_ACTOR">, env: NodeJS.ProcessEnv = process.env): string {
  return ADMIN_ACTOR || env.SUDO_USER || env.USER || osUser();
}

function osUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`; // a user in a container may have no name
  }
}
