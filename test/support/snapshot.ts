import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { format, resolveConfig } from "prettier";

const ID = /\b(acct|cand|doc|key|ref|req|grant|audit|aud)_[0-9a-hjkmnp-tv-z]{26}\b/g;
const SECRET = /\bcos_live_\w+/g;
/** The entity tag of a resource. It has two parts for quiet hours. The tag of a file is the same in every run. */
const TAG = /(\\?")[\w-]{27}(?:\.[\w-]{27})?(?=(?:-gzip|-br)?\\?")/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** Times that are further away than this are part of the test, and stay. */
const WEEK_MS = 7 * 86_400_000;

/** Replaces ids, times and other values that differ from run to run with names. The same id always gets the same name. */
export class Names {
  readonly #ids = new Map<string, string>();

  in(text: string): string {
    return text
      .replaceAll(TIME, (time) => (Math.abs(Date.parse(time) - Date.now()) < WEEK_MS ? "<time>" : time))
      .replaceAll(ID, (id, kind: string) => {
        if (kind === "req") return "<request id>";
        if (!this.#ids.has(id)) this.#ids.set(id, `<${kind} ${this.#ids.size + 1}>`);
        return this.#ids.get(id)!;
      })
      .replaceAll(SECRET, "<secret>")
      .replaceAll(/("cursor":")[^"]+"/g, '$1<cursor>"')
      .replaceAll(TAG, "$1<tag>");
  }
}

/** What one step of a conversation has shown. */
export interface Shown {
  readonly title: string;
}

/** Compares the steps with a reviewed snapshot. With UPDATE_SNAPSHOT=1 it writes a new snapshot instead. */
export function expectSnapshot(file: URL, shown: readonly Shown[]): void {
  if (process.env.UPDATE_SNAPSHOT) writeFileSync(file, `${JSON.stringify(shown, null, 1)}\n`);
  const reviewed = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Shown[]) : [];
  for (const [index, step] of shown.entries()) expect(step, step.title).to.deep.equal(reviewed[index]);
  expect(reviewed.length, "steps in the snapshot").to.equal(shown.length);
}

/**
 * Compares the table between the comments `<!-- NAME: … -->` and `<!-- end of NAME -->` of a Markdown page with these rows,
 * the head first. With UPDATE_SNAPSHOT=1 it writes the table instead.
 */
export async function expectTable(
  file: string,
  name: string,
  [head = [], ...rows]: readonly string[][],
): Promise<void> {
  const page = readFileSync(file, "utf8");
  const parts = new RegExp(`^([^]*<!-- ${name}: .* -->\n)[^]*(<!-- end of ${name} -->[^]*)$`).exec(page);
  const [, before, after] = parts ?? expect.fail(`${file} has lost the comments around its table of ${name}`);
  const lines = [head, head.map(() => "-"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  const layout = { ...(await resolveConfig(file)), parser: "markdown" };
  const right = await format(`${before}\n${lines.join("\n")}\n\n${after}`, layout);
  if (process.env.UPDATE_SNAPSHOT) writeFileSync(file, right);
  else expect(page, `${file} differs. Run this test with UPDATE_SNAPSHOT=1`).to.equal(right);
}
