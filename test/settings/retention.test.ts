import { expect } from "chai";
import { answerOf, complaintOf, mistakeOf, serversOf } from "../admin/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

const NEVER = { completed: null, withdrawn: null, inactive: null };

describe("/settings/retention", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  const path = "/settings/retention";
  const admin = (...args: string[]) => answerOf(args, serversOf(service.config));
  const entries = async () =>
    (await service.operators.mongo.db.collection("audit").find({ account: account.id }).toArray())
      .filter(({ action, of }) => action === "retention set" && of === null)
      .map(({ actor, details }) => ({ actor, details: details as object }));

  it("keeps every candidate until the account sets days, and merges what is sent", async () => {
    const first = await client.get(path);
    expect(first.body).to.deep.equal({
      object: "retention_settings",
      erase_after_days: NEVER,
      version: 0,
      updated_at: null,
    });
    await client.patch(path, { erase_after_days: { completed: 30 } });
    const second = await client.patch(path, { erase_after_days: { withdrawn: 3650, completed: null, inactive: 1 } });
    expect(second.body).to.deep.include({ erase_after_days: { ...NEVER, withdrawn: 3650, inactive: 1 }, version: 2 });
    const same = await client.patch(path, { erase_after_days: { inactive: 1 } });
    expect(same.body, "nothing changes").to.deep.equal(second.body);
    expect((await client.patch(path, { erase_after_days: null })).body).to.deep.include({ erase_after_days: NEVER });
    expect(await account.used()).to.deep.equal({ reads: 1, settings: 4 });
  });

  it("is changed under If-Match, and refuses what is not a number of days", async () => {
    const tag = (await client.get(path)).headers.get("etag") ?? "";
    await client.patch(path, { erase_after_days: { completed: 30 } }, { "If-Match": tag });
    const late = await client.patch(path, { erase_after_days: { completed: 40 } }, { "If-Match": tag });
    expectProblem(late, 412, "version_mismatch");
    for (const days of [0, 3651, 1.5, "30", true]) {
      const refused = await client.patch(path, { erase_after_days: { inactive: days } });
      expectProblem(refused, 422, "validation_failed");
      expect(refused.body.errors[0]?.pointer).to.equal("/erase_after_days/inactive");
    }
    expectProblem(await client.patch(path, { erase_after_days: { deleted: 1 } }), 422, "validation_failed");
    expectProblem(await client.patch(path, { version: 1 }), 422, "validation_failed");
    expect((await client.get(path)).body).to.include({ version: 1 });
  });

  it("takes changes one after the other that come at once", async () => {
    const days = [1, 2, 3, 4, 5, 6];
    const answers = await Promise.all(days.map((inactive) => client.patch(path, { erase_after_days: { inactive } })));
    expect(answers.map(({ status }) => status)).to.deep.equal(days.map(() => 200));
    expect((await client.get(path)).body).to.include({ version: days.length });
  });

  it("has every change in the audit, with what it was and who made it, by a key or an operator", async () => {
    await client.patch(path, { erase_after_days: { completed: 30 } });
    await client.patch(path, { erase_after_days: { completed: 30 } });
    const before = { completed_before: null, withdrawn_before: null, inactive_before: null };
    const byKey = { actor: account.keyId, details: { ...NEVER, ...before, completed: 30 } };
    expect(await entries()).to.deep.equal([byKey]);
    const withdrawn = await client.post("/candidates", { withdrawn: true });
    expect(withdrawn.status).to.equal(201);
    const days = ["--withdrawn", "7", "--completed", "never"];
    expect(await mistakeOf(["retention", "set", account.id, ...days], serversOf(service.config))).to.contain("--yes");
    const set = await admin("retention", "set", account.id, ...days, "--yes");
    expect(set).to.deep.equal(await admin("retention", "show", account.id));
    expect(set).to.deep.equal((await client.get(path)).body);
    const [, byOperator] = await entries();
    expect(byOperator?.details).to.deep.equal({ ...NEVER, ...before, completed_before: 30, withdrawn: 7 });
    expect(byOperator?.actor).not.to.equal(account.keyId);
    expect(
      await mistakeOf(["retention", "set", account.id, "--inactive", "0", "--yes"], serversOf(service.config)),
    ).to.contain("/inactive");
    expect(await complaintOf(["retention", "show", "acct_nobody"], serversOf(service.config))).to.contain(
      "acct_nobody",
    );
  });
});
