import { expect } from "chai";
import { newAccount } from "../../src/accounts/account.ts";
import { AddressHash } from "../../src/outreach/address-hash.ts";
import { RulesReader } from "../../src/outreach/rules.ts";
import { OutreachStores } from "../../src/outreach/stores.ts";
import { type AssistantPatch } from "../../src/settings/schema.ts";
import { SettingsService } from "../../src/settings/service.ts";
import { settingsStores } from "../../src/settings/store.ts";
import { useDatabase } from "../support/use-service.ts";
import { iso, START } from "./support.ts";

const ACCOUNT = "acct_1";
const CHANGES: AssistantPatch[] = [
  { enabled: false },
  { instructions: "Please send colour scans." },
  { display_name: "Acme Ltd" },
  { reply_to: "hr@example.com" },
  { language: "de" },
];

describe("the rules of an account, as a sender reads them before each message", () => {
  const mongo = useDatabase();
  beforeEach(() => mongo.db.dropDatabase());

  for (const patch of CHANGES)
    it(`follow a change that another replica has just answered: ${Object.keys(patch).join()}`, async () => {
      const clock = { now: () => START };
      const { accounts: outreachAccounts } = new OutreachStores(mongo, new AddressHash(Buffer.alloc(32)), (bytes) =>
        Buffer.alloc(bytes),
      );
      const stores = settingsStores(mongo, clock);
      const accounts = { get: (id: string) => Promise.resolve(newAccount(id, "Acme", "")) };
      const limits = { perAccount: 1, newAddresses: 1, perAddress: 1 };
      const rules = new RulesReader({ ...stores, outreachAccounts, accounts, limits, clock });
      await rules.current(ACCOUNT);
      const settings = new SettingsService({
        ...stores,
        clock,
        chase: { changing: (id) => outreachAccounts.noteChange(id, iso(START)), changed: () => undefined },
      });
      await settings.changeAssistant(ACCOUNT, patch, () => undefined);
      expect((await rules.current(ACCOUNT)).assistant).to.deep.include(patch);
    });
});
