import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Config } from "../../src/config.ts";
import { serversOf } from "../admin/support.ts";
import { type Member, startMember } from "../support/processes.ts";
import { compiled } from "../support/compiled.ts";
import { environmentOf } from "../support/service.ts";

/** A version of the service, compiled. */
export interface Version {
  readonly name: string;
  /** The program of the service. */
  readonly main: string;
  /** The program of the operators' command line. */
  readonly admin: string;
}

export interface Versions {
  /** The release that the working tree replaces, or what `npm run test:upgrade` was given. */
  readonly earlier: Version;
  readonly later: Version;
}

/**
 * Finds both versions before the tests of the `describe` that calls this. Skips them if this clone lacks the earlier one:
 * test/upgrade/set-up.ts has said so.
 * @returns an object that hooks and tests can read; the body of a `describe` cannot.
 */
export function useVersions(): Versions {
  const versions: Partial<{ -readonly [K in keyof Versions]: Versions[K] }> = {};
  before(async function () {
    const { UPGRADE_FROM: dist, UPGRADE_FROM_NAME: name = "" } = process.env;
    if (dist === undefined) this.skip();
    versions.earlier = { name, main: join(dist, "main.js"), admin: join(dist, "admin/main.js") };
    versions.later = {
      name: "the working tree",
      main: await compiled("main.ts"),
      admin: await compiled("admin/main.ts"),
    };
  });
  return versions as Versions;
}

/** A running process of one version, and the command line of the same version. */
export interface Running extends Version {
  readonly url: string;
  readonly member: Member;
  /** Runs an operators' command. @returns the JSON that it prints. @throws if it fails. */
  readonly command: <Answer>(...args: string[]) => Promise<Answer>;
}

/**
 * Starts one process of a version on the servers and the database of `config`.
 * @param more settings that the working tree does not have.
 */
export async function startVersion(
  version: Version,
  config: Config,
  more: Record<string, string> = {},
): Promise<Running> {
  const member = await startMember({ ...environmentOf(config), ...more }, version.main);
  return {
    ...version,
    url: `http://127.0.0.1:${member.port}`,
    member,
    command: async <Answer>(...args: string[]) => {
      const env = { PATH: process.env.PATH, ...serversOf(config) };
      const { stdout } = await promisify(execFile)(process.execPath, [version.admin, ...args], { env });
      return JSON.parse(stdout) as Answer;
    },
  };
}
