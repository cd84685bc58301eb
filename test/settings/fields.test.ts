import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

describe("PATCH /settings/{kind}", () => {
  const { client } = useAccount();

  const REFUSED: [
    kind: "assistant" | "quiet-hours",
    patch: Record<string, unknown>,
    pointer: string,
    detail: RegExp,
  ][] = [
    ["assistant", { enabled: "yes" }, "/enabled", /a boolean or null/],
    ["assistant", { display_name: "x".repeat(201) }, "/display_name", /at most 200 characters/],
    ["assistant", { reply_to: "nobody" }, "/reply_to", /email address/],
    ["assistant", { language: "en_US" }, "/language", /BCP 47/],
    ["assistant", { channels: [] }, "/channels", /at least 1 item/],
    ["assistant", { channels: ["email", "email"] }, "/channels", /same item twice/],
    ["assistant", { channels: ["pigeon"] }, "/channels/0", /one of email, sms/],
    ["assistant", { chase_interval_hours: 0 }, "/chase_interval_hours", /at least 1/],
    ["assistant", { chase_interval_hours: 721 }, "/chase_interval_hours", /at most 720/],
    ["assistant", { chase_interval_hours: 1.5 }, "/chase_interval_hours", /an integer/],
    ["assistant", { instructions: "x".repeat(2001) }, "/instructions", /at most 2000 characters/],
    ["quiet-hours", { enabled: 1 }, "/enabled", /a boolean or null/],
    ["quiet-hours", { timezone: "Mars/Phobos" }, "/timezone", /IANA time zone/],
    ["quiet-hours", { timezone: "+01:00" }, "/timezone", /IANA time zone/],
    ["quiet-hours", { timezone: "2026-01-01T00:00Z" }, "/timezone", /IANA time zone/],
    ["quiet-hours", { start: "24:00" }, "/start", /from 00:00 to 23:59/],
    ["quiet-hours", { end: "7:30" }, "/end", /from 00:00 to 23:59/],
    ["quiet-hours", { days: [] }, "/days", /at least 1 item/],
    ["quiet-hours", { days: ["mon", "mon"] }, "/days", /same item twice/],
    ["quiet-hours", { days: ["Monday"] }, "/days/0", /one of mon, tue/],
    ["quiet-hours", { effective: {} }, "/effective", /computed/],
  ];
  for (const [kind, patch, pointer, detail] of REFUSED) {
    it(`refuses ${JSON.stringify(patch).slice(0, 60)} in ${kind}`, async () => {
      const before = (await client.get(`/settings/${kind}`)).body;
      const { errors } = expectProblem(await client.patch(`/settings/${kind}`, patch), 422, "validation_failed");
      expect(errors).to.have.length(1);
      expect(errors[0]?.pointer).to.equal(pointer);
      expect(errors[0]?.detail).to.match(detail);
      expect((await client.get(`/settings/${kind}`)).body).to.deep.equal(before);
    });
  }

  it("reports all faults at once, and applies nothing of a change that has one", async () => {
    const patch = { enabled: true, timezone: "x", start: "x", days: ["x"] };
    const { errors } = expectProblem(await client.patch("/settings/quiet-hours", patch), 422, "validation_failed");
    expect(errors.map(({ pointer }) => pointer)).to.have.members(["/timezone", "/start", "/days/0"]);
    expect((await client.get("/settings/quiet-hours")).body).to.include({ enabled: false });
  });

  const ACCEPTED: [kind: "assistant" | "quiet-hours", field: string, sent: unknown, kept: unknown][] = [
    ["assistant", "language", "pt-br", "pt-BR"],
    ["assistant", "instructions", "\u0000 $set a.b שלום", "\u0000 $set a.b שלום"],
    ["assistant", "display_name", "", null],
    ["assistant", "language", "", "en"],
    ["quiet-hours", "timezone", "", "UTC"],
    ["quiet-hours", "end", "07:30\n", "07:30"],
    ["quiet-hours", "timezone", "europe/berlin", "Europe/Berlin"],
    ["quiet-hours", "days", ["sun", "mon"], ["sun", "mon"]],
  ];
  for (const [kind, field, sent, kept] of ACCEPTED) {
    it(`accepts ${field} ${JSON.stringify(sent)} and stores ${JSON.stringify(kept)}`, async () => {
      expect((await client.patch(`/settings/${kind}`, { [field]: sent })).status).to.equal(200);
      expect((await client.get(`/settings/${kind}`)).body).to.deep.include({ [field]: kept });
    });
  }
});
