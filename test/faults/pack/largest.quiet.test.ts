import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { imageFlags } from "../../../src/dev/image-flags.ts";
import { makeLazyValues } from "../../../src/infra/lazy.ts";
import { renderPack } from "../../../src/pack/render.ts";
import type { Pack } from "../../../src/pack/schema.ts";
import { TYPESETTING } from "../../../src/pack/typeset.ts";
import { compiled } from "../../support/compiled.ts";
import { candidateRecord, contentRecord, documentRecord, referenceRecord } from "../../support/records.ts";
import { useService, useSharedAccount } from "../../support/use-service.ts";
import { download, manifestIn, packOf, readPdf, unzip } from "../../pack/support.ts";

const NOW = "2026-11-21T01:40:12.345Z";
const REMINDED = { attempts: 3, last_at: NOW };
const NOTICE = /This PDF is abridged, because the pack has too much text/;
/** Maximum size of a reference's response, in bytes of JSON. */
const RESPONSE = 16 * 1024;

/** Repeats text to a number of characters, or of bytes of UTF-8. */
const characters = (unit: string, count: number) => Array.from(unit.repeat(count)).slice(0, count).join("");
const bytes = (unit: string, count: number) => unit.repeat(Math.floor(count / Buffer.byteLength(unit)));

/** A pack of as many documents and references as a candidate can have, with texts as long as they can be. */
function largest(
  text: string,
  response: Record<string, unknown>,
  reason = characters(text, 1000),
  { reminders = 500, decider = characters(text, 200) } = {},
): Pack {
  const name = characters(text, 200);
  const content = contentRecord({ filename: name });
  const documents = Array.from({ length: 200 }, (_, n) =>
    documentRecord({ id: `doc_${n}`, name, state: "rejected", rejection_reason: reason, content, chase: REMINDED }),
  );
  const references = Array.from({ length: 50 }, (_, n) =>
    referenceRecord({
      id: `ref_${n}`,
      name,
      email: "a@example.com",
      company: name,
      job_title: name,
      relationship: name,
      state: "received",
      response,
      requested_at: NOW,
      received_at: NOW,
      chase: REMINDED,
    }),
  );
  const by = { type: "key", id: "key_1" } as const;
  const decided = [...documents, ...references].map(({ id, state }) => [
    id,
    { state, at: NOW, by, decided_by: decider },
  ]);
  const sent = {
    at: NOW,
    by: { type: "service", id: "reminders" },
    action: "reminder_sent",
    subject: "cand_1",
  } as const;
  const reminder = { ...sent, from: null, to: null, fields: [] };
  return renderPack(candidateRecord({ documents, references, decisions: Object.fromEntries(decided) }), {
    generated_at: NOW,
    language: "en",
    account: { id: "acct_1", name: "Acme", keys: [{ id: "key_1", name: decider }] },
    history: Array.from({ length: reminders }, () => reminder),
    history_complete: true,
  });
}

/** A pack of which everything has `count` labels. */
function labelled(count: number): Pack {
  const pack = largest("x", { a: 0 });
  const metadata = Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}`, "x".repeat(20)]));
  const withLabels = <Item extends object>(item: Item) => ({ ...item, metadata });
  return { ...pack, documents: pack.documents.map(withLabels), references: pack.references.map(withLabels) };
}

/** Every script in fonts.ts takes less than one of these (measured). */
const SHAPES: [shape: string, pack: () => Pack][] = [
  ...Object.entries({
    "Lao, which many fonts do not have": "ລາວ",
    "characters that no font has": "𓀀𓀁",
    "symbols of the last font": "🂡🂢",
    "a mixture of scripts": "aш山م😀한ກ",
    "a mixture of scripts, and a character that no font has": "aш山م😀한ກ𓀀",
    "words of Latin letters": "abcdefghij",
    "a word of combining marks": "a\u0301",
    "marks upon marks": `a${"\u0301".repeat(50)}`,
    "marks without a letter": "\u0301",
    "a syllable without an end": "क्",
    "emoji of several parts": "👩‍👩‍👧",
    "modifiers of emoji": "🏽",
    "changes of direction": "a\u200F",
    "control characters": "\u0000",
    "empty lines": "a\n",
    hyphens: "-",
  }).map(([shape, unit]): [string, () => Pack] => [shape, () => largest(unit, { answer: bytes(unit, RESPONSE - 20) })]),
  ["tiny members", () => largest("x", { a: Array(8000).fill(0) })],
  ["a long name above many members", () => largest("x", { ["n".repeat(8000)]: Array(3900).fill(0) })],
  ["labels", () => labelled(50)],
  ["deep nesting", () => largest("x", JSON.parse(`{"a":${"[".repeat(3000)}${"]".repeat(3000)}}`))],
];

describe("the largest packs", function () {
  this.timeout(120_000);

  describe("as a PDF take at most 5 s of CPU time and 250 MB", () => {
    let folder: string;
    let program: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "largest-"));
      program = join(folder, "measured.mjs");
      const measured = pathToFileURL(await compiled("pack/typeset-program.ts")).href;
      await writeFile(
        program,
        `import { writeFileSync } from "node:fs";
        process.on("exit", () => writeFileSync(process.argv[2], JSON.stringify(process.resourceUsage())));
        await import(${JSON.stringify(measured)});`,
      );
    });

    /** Typesets a pack in a process that measures itself. */
    async function measured(pack: Pack) {
      const usage = join(folder, "usage.json");
      const pdf = await new Promise<Buffer>((resolve, reject) => {
        const options = { encoding: "buffer", maxBuffer: 64 * 1024 * 1024, env: {} } as const;
        const flags = [...imageFlags(), ...TYPESETTING.options]; // as the service starts it
        const child = execFile(process.execPath, [...flags, program, usage], options, (error, stdout) =>
          error === null ? resolve(stdout) : reject(error),
        );
        child.stdin?.end(JSON.stringify(pack));
      });
      const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(await readFile(usage, "utf8")) as NodeJS.ResourceUsage;
      return { pdf, megabytes: maxRSS / 1024, seconds: (userCPUTime + systemCPUTime) / 1e6 };
    }

    for (const [shape, pack] of SHAPES) {
      it(`of ${shape}`, async () => {
        const { pdf, megabytes, seconds } = await measured(pack());
        expect(seconds).to.be.lessThan(5);
        expect(megabytes).to.be.lessThan(250);
        expect((await readPdf(pdf, 1)).pages[0]).to.match(NOTICE);
      });
    }

    it("but a pack of ordinary length is never abridged", async () => {
      const answer = "She was always on time. ".repeat(100);
      const usual = { reminders: 30, decider: "Noor Haddad" };
      const pack = largest("x", { answer }, "It is blurred. Send it again.", usual);
      const { pdf } = await measured({ ...pack, references: pack.references.slice(0, 10) });
      const text = (await readPdf(pdf)).pages.join("\n");
      expect(text).not.to.match(NOTICE).and.not.to.contain("[…]");
    });
  });

  describe("at the front door", () => {
    const service = useService({ LIMIT_SCALE: 100 });
    const { client } = useSharedAccount(service);
    const usual = { ...TYPESETTING };
    before(() => Object.assign(TYPESETTING, { deadlineMs: 100_000 })); // other tests run beside this one
    after(() => Object.assign(TYPESETTING, usual));

    const answer = bytes("a\u0301", RESPONSE - 20);
    async function candidate(): Promise<string> {
      const documents = Array.from({ length: 200 }, (_, n) => `${n} ${characters("aш山م😀한ກ", 190)}`);
      const references = Array.from({ length: 50 }, (_, n) => ({
        name: `${n}`,
        state: "received",
        response: { answer },
      }));
      const { status, body } = await client.post("/candidates", { documents, references });
      expect(status, JSON.stringify(body).slice(0, 300)).to.equal(201);
      return body.id;
    }

    it("cost the service's own process little, and other clients are served meanwhile", async () => {
      const path = `/candidates/${await candidate()}/pack?format=pdf`;
      await makeLazyValues(); // what the service prepares after its start is not the pack's cost
      let typeset = false;
      let polls = 0;
      const before = process.cpuUsage();
      const pack = download(client, path).finally(() => (typeset = true));
      while (!typeset) {
        expect((await client.get("/limits")).status).to.equal(200);
        polls++;
      }
      const { user, system } = process.cpuUsage(before);
      expect((await pack).status).to.equal(200);
      expect(polls).to.be.greaterThan(2);
      // A poll costs the test and the service some milliseconds. To break the lines alone cost minutes once.
      expect((user + system) / 1000).to.be.lessThan(1000 + 20 * polls);
    });

    it("say in the PDF where the whole is: in the JSON, and in the ZIP's manifest", async () => {
      const id = await candidate();
      const files = await unzip((await download(client, `/candidates/${id}/pack?format=zip`)).bytes);
      const [page = ""] = (await readPdf(files.get("pack.pdf") ?? Buffer.alloc(0), 1)).pages;
      expect(page).to.match(NOTICE);
      expect(page.replace(/\s/g, "")).to.contain("?format=json").and.to.contain("manifest.json");
      const pack = await packOf(client, id);
      expect(pack.references.map(({ response }) => response)).to.deep.equal(
        Array.from({ length: 50 }, () => ({ answer })),
      );
      expect(manifestIn(files).pack).to.deep.equal({ ...pack, generated_at: manifestIn(files).pack.generated_at });
    });
  });
});
