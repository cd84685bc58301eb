import { expect } from "chai";
import { actorOf } from "../../src/admin/operations.ts";

describe("the actor of a command, as the audit names it", () => {
  const actorIn = (ADMIN_ACTOR: string, env: NodeJS.ProcessEnv) =>
    actorOf({ ADMIN_ACTOR, ADMIN_ACTOR_REQUIRED: "false" }, [], env);

  it("is ADMIN_ACTOR, else who called sudo, else USER, else LOGNAME", () => {
    const all = { SUDO_USER: "sue", USER: "root", LOGNAME: "ona" };
    expect(actorIn("ann", all)).to.equal("ann");
    expect(actorIn("", all)).to.equal("sue");
    expect(actorIn("", { USER: "root" })).to.equal("root");
    expect(actorIn("", { SUDO_USER: "sue" })).to.equal("sue");
    expect(actorIn("", { SUDO_USER: "", USER: "", LOGNAME: "ona" })).to.equal("ona");
  });

  it("is the number of a user whose name the environment does not have", () => {
    expect(actorIn("", {})).to.equal(`uid ${process.getuid?.()}`);
  });
});
