import { expect } from "chai";
import type { Pack } from "../../src/pack/schema.ts";
import { AT, document, reference, sheet } from "./sheets.ts";

describe("the pack's PDF", () => {
  it("says who decided what, and whom messages went to", () => {
    const by = (type: string, id: string, decided_by: string | null = null) => ({
      decided: { state: "accepted", at: AT, by: { type, id }, decided_by },
    });
    const sent = (subject: string) =>
      ({
        at: AT,
        by: { type: "service", id: "reminders" },
        action: "reminder_sent",
        subject,
        from: null,
        to: null,
        fields: new Array<string>(),
      }) as const;
    const { decisions, messages, notices } = sheet({
      history_complete: false,
      account: { id: "acct_1", name: "Hire & Co", keys: [{ id: "key_1", name: "Production" }] },
      candidate: { name: "Ada" },
      documents: [
        document({ name: "Passport", ...by("key", "key_1") }),
        document({ name: "ID", ...by("key", "key_2") }),
        document({ name: "Visa", ...by("key", "key_1", "Noor Haddad") }),
        document({ name: `A certificate of ${"👩‍👩‍👧".repeat(3)} for long`, ...by("candidate", "cand_1", "\u200B") }),
        document({ name: "CV", ...by("service", "expiries") }),
        document({ name: "Nothing yet", decided: null }),
      ] as Pack["documents"],
      references: [
        reference({ id: "ref_1", name: "Bo", state: "declined", ...by("referee", "ref_1") }),
        reference({ id: "ref_2", name: "Cy", ...by("operator", "ann") }),
      ] as Pack["references"],
      history: [
        sent("cand_1"),
        sent("ref_1"),
        sent("ref_01m8kz3hmxer0bxveafwdgh123"),
        { ...sent("cand_1"), action: "updated" },
      ],
    });
    const NOW = "20 Nov 2026, 10:11:12\u00A0UTC";
    const accepted = `Accepted, ${NOW}`;
    expect(decisions).to.deep.equal([
      ["1 Passport", accepted, "API key Production, key_1"],
      ["2 ID", accepted, "API key key_2"],
      ["3 Visa", accepted, "API key Production, key_1: Noor Haddad"],
      ["4 A certificate of 👩‍👩‍👧…", accepted, "Ada:"],
      ["5 CV", accepted, "The service"],
      ["1 Bo", `Declined, ${NOW}`, "Bo"],
      ["2 Cy", `Not requested, ${NOW}`, "Operator ann"],
    ]);
    expect(notices, "earlier messages are left out").to.have.length(1);
    expect(messages.map(([at, to]) => [at, to.replaceAll("\u200B", "")])).to.deep.equal([
      [NOW, "Ada"],
      [NOW, "Bo"],
      [NOW, "ref_01m8kz3hmxer0bxveafwdgh123"],
    ]);
  });
});
