import { expect } from "chai";
import { startService } from "../support/service.ts";
import { useAccount } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";
import { linkTo } from "../reminders/pages/support.ts";
import { LANGUAGES } from "../../src/reminders/languages/language.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";

const LONG = "Aufenthaltserlaubnisverlängerungsantrag".repeat(13).slice(0, 500);
const NEVER = "2099-05-28T23:59:59.999Z";
const OVER = "2020-05-28T23:59:59.999Z";

/** Finds what is smaller than a finger: 44 by 44 pixels. */
const SMALL = `[...document.querySelectorAll("a,button,input,textarea,summary")]
  .filter((each) => each.checkVisibility())
  .map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 44 || height < 44)
  .map(([html, { width, height }]) => width + "x" + height + " " + html)`;

describe("pages behind the links of reminders", () => {
  const service = useStarted(
    "The service",
    () => startService({ MAX_DOCUMENT_BYTES: 1024 * 1024 }),
    (started) => started.stop(),
  );
  const account = useAccount(service);
  const { client } = account;
  const browser = useBrowser();

  /** Narrow and wide, light and dark. The layout is one for all widths, so two of them show what axe can find. */
  const VIEWS = [
    { width: 390, scheme: "dark", axe: true },
    { width: 390, scheme: "light", axe: false },
    { width: 1280, scheme: "dark", axe: false },
    { width: 1280, scheme: "light", axe: true },
  ] as const;
  const file = (name: string, text = "%PDF-1.4") => ({ name, mimeType: "application/pdf", buffer: Buffer.from(text) });

  beforeEach(async () => {
    await client.patch("/settings/assistant", {
      display_name: "Donaudampfschifffahrtsgesellschaft".repeat(5).slice(0, 100),
      instructions: LONG,
      reply_to: "onboarding-and-documents@acme.example",
    });
  });

  for (const { language, pages } of LANGUAGES)
    it(`fit any screen in ${language}, whatever the names are`, async () => {
      const given = {
        name: LONG.slice(0, 200),
        email: "ada@example.com",
        job_title: LONG.slice(0, 200),
        documents: [LONG, { name: LONG, required: false }, "CV"],
        references: [{ name: "Grace", email: "grace@example.com" }],
      };
      const { id } = (await client.post("/candidates", given)).body;
      const { documents, references } = (await client.post(`/candidates/${id}/start`)).body;
      const rejected = { state: "rejected", rejection_reason: LONG };
      await client.patch(`/candidates/${id}/documents/${documents[0]?.id}`, rejected);
      const link = (to: string, expires_at: string, questions: string[] | null = null) =>
        linkTo(service, account, id, to, { language, questions, expires_at });

      const page = await browser.open(service.url);
      const seen: string[] = [];
      /** Looks at the page as a stranger would, on each screen. */
      async function look(name: string): Promise<void> {
        for (const { width, scheme, axe } of VIEWS) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme: scheme });
          const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
          expect(tooWide, `${name} scrolls sideways at ${width}`).to.be.below(1);
          expect(await page.evaluate<string[]>(SMALL), name).to.deep.equal([]);
          if (!axe) continue;
          await expectAccessible(page);
          await screenshot(page, `pages-${language}-${width}-${scheme}-${name}`);
        }
        seen.push(name);
      }
      const expectError = async () => {
        expect(await page.title()).to.match(new RegExp(`^${pages.error}\\s?:`));
        expect(await page.evaluate("document.querySelector('main').firstElementChild.role")).to.equal("alert");
      };

      await page.goto(await link("candidate", NEVER));
      await look("candidate");
      const item = (n: number) => page.getByRole("listitem").nth(n);
      const send = async (n: number, sent: ReturnType<typeof file>) => {
        await item(n).locator("input").setInputFiles(sent);
        await item(n).locator("button").click();
      };
      await send(0, file("setup.exe"));
      await expectError();
      await look("program");
      await send(0, file("large.pdf", "x".repeat(1024 * 1024 + 1)));
      await expectError();
      await look("too-large");
      await send(1, file(`${"Führungszeugnis".repeat(20)}.pdf`));
      await page.getByRole("status").waitFor();
      await page.locator("summary").click();
      await look("replace");
      await item(2).locator("input").setInputFiles(file("better.pdf"));
      await item(2).locator("button").click();
      await page.getByRole("status").filter({ hasText: "better.pdf" }).waitFor();

      const to = references[0]?.id ?? "";
      const questions = Array.from({ length: 20 }, (_, n) => `${n} ${LONG.slice(0, 290)}`);
      const url = await link(to, NEVER, questions);
      await page.goto(url);
      await look("referee");
      await page.getByRole("link", { name: pages.reference.no }).click();
      await look("decline");
      await page.getByRole("button").click();
      await look("declined");
      await page.getByRole("button", { name: pages.reference.takeBack }).click();
      await page.locator("textarea").nth(1).fill("Ä".repeat(400));
      await page.getByRole("button").click();
      await expectError();
      await look("too-long");
      await client.patch(`/references/${to}`, { state: "waived" });
      await page.getByRole("button").click();
      await look("closed");
      await page.goto(await link("candidate", OVER));
      await look("expired");
      expect(seen).to.have.length(10);
      browser.takeErrors(page); // Chromium reports 4xx as errors
    });
});
