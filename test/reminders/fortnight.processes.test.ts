import { expect } from "chai";
import { useNoService, useOwnService } from "../support/use-service.ts";
import { liveThrough, useHeldTime } from "./fortnight-run.ts";
import { stories } from "./fortnight-table.ts";
import { mailSettings } from "./mail-server.ts";

describe("A fortnight of reminders: each person's messages, in order, are those of a table that was written by hand", function () {
  this.timeout(300_000); // all of it happens in one hook, on a machine that may be busy
  useNoService();
  useHeldTime();
  // The test takes the place of the mail server.
  const service = useOwnService({ ...mailSettings({ url: "smtp://127.0.0.1:9" }), LIMIT_SCALE: 10 });
  const table = stories();
  let lived: Awaited<ReturnType<typeof liveThrough>>;
  before(async () => {
    lived = await liveThrough(table, service);
  });

  for (const { name, account, why, messages, events } of table)
    it(`${name}, ${account}: ${why}`, () => {
      const outcome = lived.outcomes.get(name);
      expect(outcome?.messages).to.deep.equal(messages);
      const reminds = events.filter(({ verb }) => verb === "remind").map(({ rest }) => rest);
      expect(outcome?.reminds).to.deep.equal(reminds);
    });

  it("has no other message", () => {
    expect(table).to.have.length(40);
    expect(lived.strays).to.deep.equal([]);
  });
});
