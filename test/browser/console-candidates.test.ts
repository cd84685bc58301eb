import { expect } from "chai";
import type { Page } from "playwright-core";
import type { Surface } from "../../src/limiter/surfaces.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";
import { addKey, enterKey, openCandidates, openConsole } from "./support/console.ts";

/** The person that most tests look at. */
const ADA = {
  name: "Ada Lovelace",
  external_id: "ats-1",
  job_title: "Analyst",
  email: "ada@example.com",
  metadata: { team: "engines" },
  documents: [
    "Right to work",
    {
      name: "Passport",
      content: { filename: "passport.html", content_type: "text/html", data: btoa("<script>alert(1)</script>") },
    },
  ],
  references: [{ name: "Charles Babbage", email: "c@example.com", state: "received", response: { well: "known" } }],
};

/** Names that try to be more than text. */
const HOSTILE = [
  "<img src=x onerror=alert(1)><script>alert(1)</script>",
  "\u202eevol\u202c",
  "A\nB\u0007",
  "W".repeat(200),
  "محمد بن موسى",
  "Z͑͗͂".repeat(40),
  "${7*7}{{7*7}}",
];

describe("the console's candidates", () => {
  const service = useService();
  const browser = useBrowser();
  const account = useAccount(service);

  it("cost what each button says, and nothing else costs anything", async () => {
    await account.client.post("/candidates", ADA);
    const page = await openConsole(browser, service.url);
    await openCandidates(page, account.key);
    const before = await account.used();
    /** Clicks, waits for the answer, and compares what was told with what was charged. */
    const click = async (name: string, surface: Surface) => {
      const button = page.getByRole("button", { name, exact: true });
      const cost = page.locator(`#${(await button.getAttribute("aria-describedby")) ?? ""}`);
      const told = /^Costs 1 (\w+)(?: request)?\. (\d+) left\.$/.exec((await cost.textContent()) ?? "");
      const used = await account.used();
      await button.click();
      await page
        .getByRole("status")
        .getByText(/^Charged 1|is here\.$/)
        .waitFor();
      const left = Number(told?.[2]);
      expect(told?.[1]).to.equal(surface === "reads" ? "read" : surface);
      expect(await account.used(), name).to.deep.equal({ ...used, [surface]: (used[surface] ?? 0) + 1 });
      expect((await limitsOf(surface)).key.remaining, "what is left").to.equal(left - 1);
    };
    const limitsOf = async (surface: Surface) => {
      const { surfaces } = await service.operators.usage({ accountId: account.id, keyId: account.keyId });
      const found = surfaces.find((each) => each.surface === surface);
      if (found === undefined) throw new Error(`There is no surface ${surface}.`);
      return found;
    };
    await click("Read candidates", "list");
    await click("Read what has changed since", "list");
    await page.getByRole("link", { name: "Ada Lovelace" }).click();
    await page.getByRole("heading", { level: 1, name: "Ada Lovelace" }).waitFor();
    await click("Read again", "reads");
    await click("Read the file", "reads");
    await click("Prepare the pack as PDF", "pack");
    await click("Prepare the pack as ZIP", "pack");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Candidates" }).waitFor();
    await page.goForward();
    await page.getByRole("link", { name: "Limits" }).click();
    expect(await account.used()).to.deep.equal({ ...before, list: 2, reads: 2, pack: 2 });
  });

  it("show state, what is waited for, fields, documents and references", async () => {
    const { body } = await account.client.post("/candidates", ADA);
    await account.client.post(`/candidates/${body.id}/start`);
    const page = await openConsole(browser, service.url);
    await openCandidates(page, account.key);
    await page.getByRole("button", { name: "Read candidates" }).click();
    const row = page.locator("ul.candidates > li");
    await row.getByText("in progress").waitFor();
    await row.getByText('Document "Right to work" has not arrived').waitFor();
    await row.getByRole("link", { name: "Ada Lovelace" }).click();
    await page.getByRole("heading", { level: 1, name: "Ada Lovelace" }).waitFor();
    expect(await page.title()).to.equal("Ada Lovelace · Console");
    for (const text of ["ats-1", "ada@example.com", "metadata.team", "engines", "passport.html", "Charles Babbage"])
      await page.getByText(text, { exact: true }).first().waitFor();
    await page.getByText("Response").click();
    await page.getByText('"well": "known"').waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Candidates" }).waitFor();
    expect(await page.title()).to.equal("Candidates · Console");
  });

  it("open the pack's PDF, and save all files without finding out what they are", async () => {
    const { body } = await account.client.post("/candidates", ADA);
    const page = await browser.open(service.url);
    await page.addInitScript(`
      const make = URL.createObjectURL;
      globalThis.types = [];
      URL.createObjectURL = (blob) => (types.push(blob.type), make.call(URL, blob));
    `);
    await page.goto(`${service.url}/console#/candidates/${body.id}`);
    await page.getByLabel("API key").fill(account.key);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Read the candidate" }).click();
    const save = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
      const chunks = await (await download.createReadStream()).toArray();
      return { name: download.suggestedFilename(), start: Buffer.concat(chunks).subarray(0, 4).toString("latin1") };
    };
    await page.getByRole("button", { name: "Prepare the pack as PDF" }).click();
    expect(await save("Save PDF")).to.deep.equal({ name: `compliance-pack-${body.id}.pdf`, start: "%PDF" });
    const [pdf] = await Promise.all([page.waitForEvent("popup"), page.getByRole("link", { name: "Open PDF" }).click()]);
    await pdf.waitForLoadState();
    expect(await pdf.evaluate("document.contentType")).to.equal("application/pdf");
    await page.getByRole("button", { name: "Prepare the pack as ZIP" }).click();
    expect(await save("Save ZIP")).to.deep.equal({ name: `compliance-pack-${body.id}.zip`, start: "PK\u0003\u0004" });
    await page.getByRole("button", { name: "Read the file" }).click();
    expect(await save("Save the file")).to.deep.equal({ name: "passport.html", start: "<scr" });
    expect(await page.evaluate("types")).to.deep.equal([
      "application/pdf",
      "application/octet-stream",
      "application/octet-stream",
    ]);
  });

  it("drop a person that was erased meanwhile", async () => {
    const { body } = await account.client.post("/candidates", ADA);
    const page = await openConsole(browser, service.url, { causes: /410 \(Gone\)/ });
    await openCandidates(page, account.key);
    await page.getByRole("button", { name: "Read candidates" }).click();
    await page.getByRole("link", { name: "Ada Lovelace" }).click();
    await account.client.request("DELETE", `/candidates/${body.id}`);
    await page.getByRole("button", { name: "Read again" }).click();
    await page.getByText("Candidate deleted", { exact: true }).waitFor();
    expect(await page.getByText("Ada Lovelace").count()).to.equal(0);
    await page.goBack();
    await page.getByText("No candidate matches.").waitFor();
    expect(await page.getByText("Ada Lovelace").count()).to.equal(0);
    await page.getByRole("button", { name: "Read what has changed since" }).click();
    await page.getByText("Deleted", { exact: true }).waitFor();
  });

  it("show hostile names as text, inside the page", async () => {
    for (const name of HOSTILE)
      await account.client.post("/candidates", { name, metadata: { [name.slice(0, 40)]: name } });
    const page = await openConsole(browser, service.url, { width: 360 });
    await openCandidates(page, account.key);
    await page.getByRole("button", { name: "Read candidates" }).click();
    await page.locator("ul.candidates a", { hasText: "<img src=x onerror=alert(1)>" }).waitFor();
    await page.locator("ul.candidates a", { hasText: "A␊B␇" }).waitFor();
    await screenshot(page, "console-hostile-360");
    const rows = await page.locator("ul.candidates a").count();
    expect(rows).to.equal(HOSTILE.length);
    for (let n = 0; n < rows; n++) {
      await expectNoOverflow(page);
      await page.locator("ul.candidates a").nth(n).click();
      await page.getByRole("heading", { level: 2, name: "Fields" }).waitFor();
      await expectNoOverflow(page);
      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "Candidates" }).waitFor();
    }
    expect(await page.locator("img, main script").count()).to.equal(0);
  });

  it("can be read by everyone, on a phone and a desktop, in light and dark", async () => {
    const { client, key } = account;
    const other = await account.another();
    const { body } = await client.post("/candidates", ADA);
    await client.post("/candidates", { name: "Grace Hopper" });
    for (const each of [client, other.client])
      for (let n = 0; n < 10; n++) await each.post(`/candidates/${body.id}/start`);
    const page = await openConsole(browser, service.url);
    const look = async (name: string) => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [360, 1280]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          await page.evaluate("scrollTo(0, 0)");
          await expectNoOverflow(page);
          await expectAccessible(page);
          await screenshot(page, `console-${name}-${width}-${colorScheme}`);
        }
    };
    await look("key");
    await enterKey(page, key);
    await addKey(page, other.key);
    await page.getByRole("button", { name: "Remove" }).waitFor();
    await look("limits");
    await page.getByRole("link", { name: "Candidates" }).click();
    await page.getByRole("button", { name: "Read candidates" }).click();
    await page.getByText("These are all.").waitFor();
    await look("candidates");
    await page.getByRole("link", { name: "Ada Lovelace" }).click();
    await page.getByRole("button", { name: "Prepare the pack as PDF" }).click();
    await page.getByRole("link", { name: "Open PDF" }).waitFor();
    await look("candidate");
  });
});

/** Expects that nothing makes the page wider than its window. */
async function expectNoOverflow(page: Page): Promise<void> {
  const [wide, window] = await page.evaluate<[number, number]>("[document.documentElement.scrollWidth, innerWidth]");
  expect(wide, page.url()).to.be.at.most(window);
}
