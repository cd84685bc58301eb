import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { mock } from "node:test";
import { expect } from "chai";
import { actorOf } from "../../src/admin/operations.ts";

describe("the actor of a command, as the audit names it", () => {
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
  });

  /** Puts something else in place of the operating system's response. */
  function userIs(userInfo: () => { username: string }): void {
    mock.method(os, "userInfo", userInfo);
    syncBuiltinESMExports();
  }

  const actorIn = (ADMIN_ACTOR: string, env: NodeJS.ProcessEnv) =>
    actorOf({ ADMIN_ACTOR, ADMIN_ACTOR_REQUIRED: "false" }, [], env);

  it("is ADMIN_ACTOR, else who called sudo, else USER, else the user of the process", () => {
    userIs(() => ({ username: "ona" }));
    const all = { SUDO_USER: "sue", USER: "root" };
    expect(actorIn("ann", all)).to.equal("ann");
    expect(actorIn("", all)).to.equal("sue");
    expect(actorIn("", { USER: "root" })).to.equal("root");
    expect(actorIn("", { SUDO_USER: "sue" })).to.equal("sue");
    expect(actorIn("", { SUDO_USER: "", USER: "" })).to.equal("ona");
  });

  it("is the number of a user who has no name, as in a container", () => {
    userIs(() => {
      throw new Error("ENOENT: uv_os_get_passwd");
    });
    mock.method(process as { getuid: () => number }, "getuid", () => 1234);
    expect(actorIn("", {})).to.equal("uid 1234");
  });

  it("is unknown where users have no numbers", () => {
    userIs(() => {
      throw new Error("ENOENT: uv_os_get_passwd");
    });
    const { getuid } = process;
    Object.assign(process, { getuid: undefined });
    try {
      expect(actorIn("", {})).to.equal("uid unknown");
    } finally {
      Object.assign(process, { getuid });
    }
  });
});
