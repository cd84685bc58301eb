import { expect } from "chai";
import { answerOf, complaintOf, mistakeOf, serversOf } from "../admin/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

describe("A service that is being restored", () => {
  const service = useOwnService();
  const account = useAccount(service);
  const admin = (...args: string[]) => answerOf(args, serversOf(service.config));
  const code = async () => (await account.client.get("/limits")).body.code;
  const gauge = async () =>
    /^onboarding_restoring (\d)$/m.exec(await (await fetch(`${service.opsUrl}/metrics`)).text());

  /** Waits until the service is closed, or open. */
  async function follows(command: "begin" | "end"): Promise<void> {
    const expected = command === "begin" ? "service_restoring" : undefined;
    while ((await code()) !== expected);
  }

  it("refuses every request before it is charged, and its pages, and is open again after the end", async () => {
    const { body } = await account.client.post("/candidates", {});
    expect((await gauge())?.[1]).to.equal("0");
    await admin("restore", "begin");
    await follows("begin");
    for (const path of [`/candidates/${body.id}`, "/candidates", "/limits"]) {
      const refused = await account.client.get(path);
      expectProblem(refused, 503, "service_restoring");
      expect(refused.headers.get("retry-after")).to.equal("60");
      expect(refused.headers.get("ratelimit")).to.equal(null);
    }
    expect((await account.client.get("/candidates", { Authorization: "Bearer nobody" })).status).to.equal(503);
    for (const path of ["/u/token", "/r/token/stop"]) {
      const page = await fetch(service.url + path);
      expect([page.status, page.headers.get("retry-after")]).to.deep.equal([503, "60"]);
      expect(await page.text()).to.match(/^<!doctype html>/);
    }
    const answers = new FormData();
    answers.append("answer-0", "Two <years>");
    const page = await fetch(`${service.url}/r/token/questions`, { method: "POST", body: answers });
    expect([page.status, page.headers.get("retry-after")]).to.deep.equal([503, "60"]);
    expect(await page.text(), "what was typed, to send it again").to.match(
      /action="\/r\/token\/questions"[^]*name="answer-0">Two &lt;years&gt;<\/textarea>[^]*<button>/,
    );
    expect((await fetch(`${service.url}/openapi.json`)).status).to.equal(200);
    expect((await fetch(`${service.url}/docs`)).status).to.equal(200);
    expect((await fetch(`${service.opsUrl}/readyz`)).status).to.equal(503);
    expect((await fetch(`${service.opsUrl}/livez`)).status).to.equal(200);
    expect((await gauge())?.[1]).to.equal("1");
    expect(await account.used()).to.deep.equal({ create: 1 });

    await admin("restore", "end");
    await follows("end");
    expect((await account.client.get(`/candidates/${body.id}`)).status).to.equal(200);
    expect((await fetch(`${service.opsUrl}/readyz`)).status).to.equal(200);
    expect((await gauge())?.[1]).to.equal("0");
  });

  it("has its people erased by the operator, once and for all", async () => {
    const [one, other] = [await account.client.post("/candidates"), await account.client.post("/candidates")];
    await admin("restore", "begin");
    await follows("begin");
    const ids = [one.body.id, other.body.id];
    const erase = ["candidates", "erase", "--yes"];
    const servers = serversOf(service.config);
    expect(await complaintOf([...erase, "cand_1", ids[0]!, "cand_2"], servers)).to.equal(
      "There is no candidate cand_1, cand_2; the others are erased. Check the id.",
    );
    expect(await complaintOf([...erase, "cand_1"], servers)).to.equal("There is no candidate cand_1. Check the id.");
    expect(await admin(...erase, ...ids)).to.deep.equal({ object: "erasure", erased: ids });
    await admin("restore", "end");
    await follows("end");
    for (const id of ids) expectProblem(await account.client.get(`/candidates/${id}`), 410, "candidate_deleted");
    const { data } = (await admin("audit", "list")) as { data: { action: string; subject: string; actor: string }[] };
    const erasures = data.filter(({ action }) => action === "candidates delete");
    expect(erasures.map(({ subject }) => subject).toSorted()).to.deep.equal(ids.toSorted());
    expect(data.filter(({ action }) => action.startsWith("restore "))).to.have.length.above(1);
  });

  it("closes by itself if its database has lost its state, as with a backup of a release before it had one", async () => {
    await service.operators.mongo.db.collection<{ _id: string }>("meta").deleteOne({ _id: "restore" });
    await follows("begin");
    expect(await admin("restore", "show")).to.include({ restoring: true });
    await admin("restore", "end");
    await follows("end");
  });

  it("keeps its end if the command is repeated, and takes another word for its reminders", async () => {
    await admin("restore", "begin");
    const first = (await admin("restore", "end")) as { ended_at: string };
    expect(first).to.include({ restoring: false, overdue: "hold", waiting: 0 });
    expect(await admin("restore", "end")).to.deep.equal(first);
    expect(await admin("restore", "end", "--overdue", "skip")).to.deep.equal({ ...first, overdue: "skip" });
    const { data } = (await admin("audit", "list", "--limit", "4")) as { data: { action: string; details: object }[] };
    const [skipped, , , begun] = data.filter(({ action }) => action.startsWith("restore "));
    expect(skipped?.details).to.deep.equal({ overdue: "skip" });
    expect(begun?.details, "nobody has decided about reminders yet").to.have.all.keys("since");
    expect(await admin("restore", "end")).to.deep.equal({ ...first, overdue: "skip" });
    expect(await mistakeOf(["restore", "end", "--overdue", "lose"], serversOf(service.config))).to.match(
      /hold, send, skip/,
    );
  });
});
