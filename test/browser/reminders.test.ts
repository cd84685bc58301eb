import { once } from "node:events";
import { watch } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { type ParsedMail, simpleParser } from "mailparser";
import type { Page } from "playwright-core";
import { freePort } from "../../src/dev/server-process.ts";
import { startService } from "../support/service.ts";
import { useAccount } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";
import { expectAccessible, screenshot, useBrowser, type View } from "./support/browser.ts";

const NAMES = ["Passport", "Proof of a very long name that does not fit on one line of a phone".replaceAll(" ", "-")];

/** A folder of messages. */
async function openOutbox() {
  const path = await mkdtemp(join(tmpdir(), "outbox-"));
  const messages = async (): Promise<ParsedMail[]> => {
    const names = (await readdir(path)).filter((name) => name.endsWith(".eml"));
    return Promise.all(names.map(async (name) => simpleParser(await readFile(join(path, name)))));
  };
  return {
    path,
    messages,
    /** Waits for a message to an address. Messages to others may come first, and a new file may still be empty. */
    async messageTo(address: string): Promise<ParsedMail> {
      const watcher = watch(path);
      try {
        for (;;) {
          const changed = once(watcher, "change"); // from before the look, or a change during it would be missed
          const found = (await messages()).find(({ to }) => [to].flat()[0]?.text.includes(address));
          if (found !== undefined) return found;
          await changed;
        }
      } finally {
        watcher.close();
      }
    },
    remove: () => rm(path, { recursive: true }),
  };
}

describe("reminders, from the start of a candidate to its end", () => {
  const outbox = useStarted("The outbox", openOutbox, (opened) => opened.remove());
  const service = useStarted(
    "The service",
    async () => {
      const PORT = await freePort();
      const PUBLIC_URL = `http://127.0.0.1:${PORT}`;
      return startService({
        PORT,
        PUBLIC_URL,
        SMTP_URL: pathToFileURL(outbox.path).href,
        MAIL_FROM: "jobs@example.com",
      });
    },
    (started) => started.stop(),
  );
  const account = useAccount(service);
  const { client } = account;
  const browser = useBrowser();

  /** Looks at the page as a stranger would, and leaves a picture. */
  async function look(page: Page, name: string): Promise<void> {
    await expectAccessible(page);
    const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(tooWide, `${name} scrolls sideways`).to.be.below(1);
    await screenshot(page, `reminders-${name}`);
  }

  const linkIn = ({ text = "" }: ParsedMail) => /http:\S+\/[ur]\/\S+/.exec(text)?.[0] ?? "";

  const VIEWS: [string, View][] = [
    ["wide", { width: 1280, scheme: "light" }],
    ["narrow", { width: 320, scheme: "dark" }],
  ];
  for (const [name, view] of VIEWS) {
    it(`upload, answer and complete, on a ${name} screen`, async () => {
      const already = (await outbox.messages()).length;
      const [ada, grace] = [`ada-${name}@example.com`, `grace-${name}@example.com`];
      const references = [{ name: "Grace Hopper", email: grace }];
      const body = { name: "Ada Lovelace", email: ada, documents: NAMES, references };
      const { id } = (await client.post("/candidates", body)).body;
      await client.post(`/candidates/${id}/start`);
      const [toCandidate, toReferee] = await Promise.all([outbox.messageTo(ada), outbox.messageTo(grace)]);
      expect(toCandidate.text).to.contain("Passport");
      expect(toReferee.text).to.contain("named you as a reference");

      const page = await browser.open(service.url, view);
      await page.setContent(String(toCandidate.html));
      await look(page, `mail-${name}`);

      const referers: (string | undefined)[] = [];
      page.on("request", (request) => referers.push(request.headers()["referer"]));
      await page.goto(linkIn(toCandidate));
      await look(page, `candidate-${name}`);
      for (const document of NAMES) {
        const files = {
          name: `${document.slice(0, 10)}.pdf`,
          mimeType: "application/pdf",
          buffer: Buffer.from("%PDF-1.4"),
        };
        const item = page.getByRole("listitem").filter({ hasText: document });
        await item.getByRole("button", { name: document, exact: true }).setInputFiles(files);
        await item.getByRole("button", { name: `Send ${document}` }).click();
        await page
          .getByRole("status")
          .filter({ hasText: `We have received “${document}”` })
          .waitFor();
      }
      await look(page, `candidate-done-${name}`);

      await page.goto(linkIn(toReferee));
      await look(page, `referee-${name}`);
      await page.getByRole("link", { name: "Yes, continue" }).click();
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").filter({ hasText: "Answer at least one question." }).waitFor();
      await look(page, `questions-${name}`);
      browser.takeErrors(page); // Chromium reports the answer 422 as an error
      await page.getByLabel("How do you know this person, and for how long?").fill("We worked together for two years.");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("We have received your answers.").waitFor();
      await look(page, `referee-done-${name}`);
      expect(
        referers.filter((referer) => referer !== undefined),
        "a Referer header",
      ).to.deep.equal([]);

      const received = (await client.get(`/candidates/${id}`)).body;
      expect(received.documents.map(({ state }) => state)).to.deep.equal(["received", "received"]);
      expect(received.references[0]).to.deep.include({ state: "received" });
      for (const { id: document } of received.documents)
        await client.patch(`/candidates/${id}/documents/${document}`, { state: "accepted" });
      const completed = (await client.get(`/candidates/${id}`)).body;
      expect(completed).to.deep.include({
        state: "completed",
        outreach: { next_at: null, reason: "nothing_outstanding" },
      });
      expect(await outbox.messages()).to.have.length(already + 2);
    });
  }

  it("need no script", async () => {
    const email = "no-script@example.com";
    const { id } = (await client.post("/candidates", { email, documents: ["CV"] })).body;
    await client.post(`/candidates/${id}/start`);
    const page = await browser.open(service.url, { width: 320, javaScriptEnabled: false });
    await page.goto(linkIn(await outbox.messageTo(email)));
    await page.getByRole("link", { name: "Stop these messages" }).click();
    await page.getByRole("button", { name: "Stop these messages" }).click();
    await page.getByText("Test will send no more messages to this address.").waitFor();
    expect((await client.get(`/candidates/${id}`)).body.outreach).to.deep.equal({ next_at: null, reason: "opted_out" });
  });
});
