import type { Fleet } from "../faults/replicas/fleet.ts";
import type { Member } from "../support/processes.ts";
import type { Version } from "./versions.ts";

/** Replaces the processes of a fleet by those of another version, and remembers which process has which version. */
export class Rollout {
  readonly #fleet: Fleet;
  readonly #versions = new Map<Member, Version>();
  #serving: Member[];
  readonly exitCodes: (number | null)[] = [];

  /** @param version the version of all processes so far. */
  constructor(fleet: Fleet, version: Version) {
    this.#fleet = fleet;
    this.#serving = [...fleet.members];
    for (const member of this.#serving) this.#versions.set(member, version);
  }

  /** Starts a process of a version, then ends the one that has served longest. */
  async replaceOne(version: Version): Promise<void> {
    const member = await this.#fleet.join(version.main);
    this.#versions.set(member, version);
    const [oldest, ...others] = this.#serving;
    this.#serving = [...others, member];
    this.exitCodes.push((await oldest?.end("SIGTERM")) ?? null);
  }

  /** Replaces all processes, one after the other. */
  async replaceAll(version: Version): Promise<void> {
    for (const _ of this.#serving) await this.replaceOne(version);
  }

  /** Ends all processes, so that their logs are complete. */
  async end(): Promise<void> {
    for (const member of this.#serving) this.exitCodes.push(await member.end("SIGTERM"));
    this.#serving = [];
  }

  /** Returns the log lines of a version's processes. */
  logOf(version: Version): Member["log"] {
    return [...this.#versions].filter(([, of]) => of === version).flatMap(([{ log }]) => log);
  }
}
