import { expect } from "chai";
import { admin, answerOf, complaintOf, serversOf } from "../admin/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

interface Shown {
  restoring: boolean;
  ended_at: string | null;
  overdue: string;
  known_to_redis: boolean;
}

describe("A restore by hand", () => {
  const service = useOwnService();
  const account = useAccount(service);
  const restore = (...args: string[]) => answerOf(["restore", ...args], serversOf(service.config)) as Promise<Shown>;

  it("begins", async () => {
    const before = await restore("show");
    console.log(before);
    console.log(await restore("begin"));
    for (;;) { const r = await account.client.get("/candidates"); if (r.status === 503) { expectProblem(r, 503, "service_restoring"); break; } }
    console.log(await (await fetch(`${service.opsUrl}/readyz`)).text());
    console.log(await restore("end"), await admin(["audit", "list"], serversOf(service.config)));
    for (;;) { const r = await account.client.get("/candidates"); if (r.status === 200) { break; } }
    console.log(await restore("release"));
    console.log(await complaintOf(["candidates", "erase", "x", "--yes"], serversOf(service.config)));
    const { body } = await account.client.post("/candidates", {});
    console.log(await answerOf(["candidates", "erase", body.id, "--yes"], serversOf(service.config)));
    console.log((await account.client.get(`/candidates/${body.id}`)).status);
    console.log(await account.used());
  });
});
