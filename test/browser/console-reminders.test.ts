import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";
import { openCandidates, openConsole } from "./support/console.ts";

const ADA = { name: "Ada Lovelace", email: "ada@example.com" };

describe("the console's search and reminders", () => {
  const service = useService();
  const browser = useBrowser();
  const account = useAccount(service);

  /** Writes messages to the history, as the sender does. */
  const noteMessages = async (id: string, referee: string) => {
    const sent = {
      account: account.id,
      candidate: id,
      documents: [],
      tries: 1,
      at: "2026-08-17T09:31:00.000Z",
      code: "250",
    };
    await service.operators.mongo.db.collection<{ _id: string; [name: string]: unknown }>("messages").insertMany([
      { _id: `${id} 1`, ...sent, to: "candidate", kind: "sent", subject: "Acme needs documents\u202e" },
      { _id: `${id} 2`, ...sent, to: referee, kind: "bounced", subject: "Reference for Ada Lovelace" },
      { _id: `${id} 3`, ...sent, to: "ref_gone", kind: "deferred", tries: 2 },
    ]);
  };

  it("are found by the beginning of a name, for one list request", async () => {
    await account.client.post("/candidates", ADA);
    await account.client.post("/candidates", { name: "Grace Hopper" });
    const page = await openConsole(browser, service.url);
    await openCandidates(page, account.key);
    await page.getByLabel("Search").fill("löv ADA");
    await page.getByLabel("Search").press("Enter");
    await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
    await page.getByText("These are all.").waitFor();
    expect(await page.locator("ul.candidates a").count()).to.equal(1);
    expect(await page.getByRole("button", { name: "Read what has changed since" }).count()).to.equal(0);
    expect(await account.used()).to.deep.equal({ create: 2, list: 1 });
  });

  it("show reminders, the messages sent, and line ends as line ends", async () => {
    const reason = "The photo is blurred.\nScan it, please.";
    const documents = [{ name: "Passport", state: "rejected", rejection_reason: reason }];
    const references = [
      { name: "Charles Babbage", state: "received", response: { well: "known\r\nto all, \\no doubt" } },
      { email: "grace@example.com" },
    ];
    const metadata = { team: "engines\nlooms" };
    const { body } = await account.client.post("/candidates", { ...ADA, documents, references, metadata });
    await noteMessages(body.id, body.references[0]?.id ?? "");
    const page = await openConsole(browser, service.url);
    await openCandidates(page, account.key);
    await page.getByRole("button", { name: "Read candidates" }).click();
    await page.getByRole("link", { name: "Ada Lovelace" }).click();
    await page.getByText("Next none, last none. The candidate is not started.").waitFor();
    for (const text of [reason, metadata.team]) {
      const shown = page.locator(".lines", { hasText: text.split("\n")[0] ?? "" }).first();
      expect(await shown.innerText()).to.contain(text);
    }
    await page.getByText("Response").click();
    expect(await page.locator("pre").innerText()).to.contain('"known\nto all, \\\\no doubt"');
    expect(await page.getByText("0 reminders").count()).to.equal(3);
    await page.getByRole("heading", { name: "grace@example.com" }).waitFor();
    await page.getByRole("button", { name: "Read the messages sent" }).click();
    await page.getByRole("heading", { name: "Acme needs documents" }).waitFor();
    const text = await page.getByRole("region", { name: "Reminders" }).innerText();
    expect(text)
      .to.match(/^To Ada Lovelace, .*: accepted by the mail server$/m)
      .and.to.match(/^To Charles Babbage, .*: refused: the address does not accept mail$/m)
      .and.to.match(/^To a referee who was removed, .*will be tried again \(try 2\)$/m);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await expectAccessible(page);
      await screenshot(page, `console-reminders-${width}`);
    }
    expect(await account.used()).to.deep.equal({ create: 1, list: 1, reads: 1 });
  });
});
