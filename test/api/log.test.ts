import { mock } from "node:test";
import { expect } from "chai";
import { createLog } from "../../src/infra/log.ts";
import { useService } from "../support/use-service.ts";

describe("the log", () => {
  const service = useService();

  it("has a line for each request, with its id and without secrets or personal data", async () => {
    const { client, key, id, keyId } = await service.account();
    const { body } = await client.post("/candidates", {
      name: "Zoë Secret",
      email: "zoe@example.com",
      external_id: "person-7",
    });
    await client.get(`/candidates/${body.id}?email=zoe@example.com`);
    await client.get("/candidates?external_id=person-7", { "X-Request-Id": "trace-9" });
    const line = service.log.find((entry) => entry.request_id === "trace-9");
    expect(line).to.include({
      endpoint: "listCandidates",
      status: 200,
      account: id,
      key_id: keyId,
      surface: "list",
      verdict: "admitted",
    });
    const text = JSON.stringify(service.log);
    for (const secret of [key, key.slice(9, 20), "zoe@", "Zoë", "person-7"]) expect(text).not.to.contain(secret);
  });

  it("names the account of a refused request if the key is known", async () => {
    const { client, id, keyId } = await service.account();
    await service.operators.accounts.setStatus(id, "suspended");
    expect((await client.get("/candidates", { "X-Request-Id": "trace-suspended" })).status).to.equal(403);
    const line = service.log.find((entry) => entry.request_id === "trace-suspended");
    expect(line).to.include({ status: 403, account: id, key_id: keyId });
  });

  it("has the time of each line to the millisecond, in UTC", () => {
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => lines.push(line) });
    const times = ["2026-11-23T09:59:59.007Z", "2026-11-23T09:59:59.998Z", "2026-11-23T10:00:00.000Z"];
    const earlier = "2026-11-23T09:59:59.999Z"; // the clock steps back
    try {
      for (const time of [...times, earlier]) {
        mock.timers.enable({ apis: ["Date"], now: Date.parse(time) });
        log.info("one");
        mock.timers.reset();
      }
    } finally {
      mock.timers.reset();
    }
    expect(lines.map((line) => (JSON.parse(line) as { time: string }).time)).to.deep.equal([...times, earlier]);
  });
});
