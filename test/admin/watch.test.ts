import { EventEmitter, once } from "node:events";
import { mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { watchLimits } from "../../src/admin/watch.ts";
import type { AccountLimits } from "../../src/limits/account-limits.ts";
import { useNoService } from "../support/use-service.ts";

describe("limits that are watched on a terminal", () => {
  useNoService();
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  const limits = (name: string): AccountLimits => ({
    object: "account_limits",
    account_id: "acct_1",
    name,
    status: "active",
    window_seconds: 3600,
    surfaces: [],
    keys: [],
  });
  const ENTER = "\u001b[?1049h\u001b[?25l";
  const LEAVE = "\u001b[?25h\u001b[?1049l";

  /** A terminal that keeps what is written to it, and emits "written" for each part. */
  function terminal(rows?: number) {
    const written: string[] = [];
    const output = Object.assign(new EventEmitter(), {
      isTTY: true as const,
      columns: 120,
      ...(rows === undefined ? {} : { rows }),
      write(text: string) {
        written.push(text);
        return output.emit("written");
      },
    });
    return { output, written };
  }

  /** Watches until `reads` were shown, then stops as by Ctrl-C. */
  async function watched(reads: (() => Promise<AccountLimits>)[], rows?: number): Promise<string[]> {
    const { output, written } = terminal(rows);
    let next = 0;
    const done = watchLimits(() => reads[next++]!(), output as unknown as Parameters<typeof watchLimits>[1]);
    await once(output, "written");
    while (next < reads.length) {
      const drawn = once(output, "written");
      await nextTurn();
      mock.timers.tick(1_000);
      await drawn;
    }
    const before = process.listeners("SIGINT").length;
    process.listeners("SIGINT").at(-1)?.("SIGINT");
    await done;
    expect(process.listeners("SIGINT").length).to.equal(before - 1);
    return written;
  }

  const shown = (name: string) => `${name}  acct_1  active  `;
  const frame = (...lines: string[]) => `${lines.join("\n")}\n`;
  const plain = (text: string | undefined) => stripVTControlCharacters(text ?? "");

  it("are drawn in place, in the terminal's other screen, and stay on the first one at the end", async () => {
    const written = await watched([() => Promise.resolve(limits("One")), () => Promise.resolve(limits("Two"))]);
    expect(written[0]).to.equal(ENTER);
    expect(written[1]?.startsWith("\u001b[H")).to.equal(true);
    expect(written[1]?.endsWith("\u001b[K\n\u001b[J")).to.equal(true);
    expect(plain(written[1])).to.equal(frame(shown("One"), "", "account", ""));
    expect(plain(written[2])).to.equal(frame(shown("Two"), "", "account", ""));
    expect(written[3]?.startsWith(LEAVE)).to.equal(true);
    expect(plain(written[3])).to.equal(frame(shown("Two"), "", "account", ""));
    expect(written).to.have.length(4);
  });

  it("are read again after a second", async () => {
    const { output, written } = terminal();
    let reads = 0;
    const read = () => Promise.resolve(limits(`${++reads}`));
    const done = watchLimits(read, output as unknown as Parameters<typeof watchLimits>[1]);
    await once(output, "written");
    await nextTurn();
    mock.timers.tick(999);
    await nextTurn();
    expect(reads).to.equal(1);
    mock.timers.tick(1);
    await nextTurn();
    expect(reads).to.equal(2);
    expect(plain(written[2])).to.equal(frame(shown("2"), "", "account", ""));
    process.listeners("SIGINT").at(-1)?.("SIGINT");
    await done;
  });

  it("stay as they were when a read fails, with the fault below, until a read succeeds", async () => {
    const written = await watched([
      () => Promise.resolve(limits("One")),
      () => Promise.reject(new Error("Redis does not answer.")),
      () => Promise.resolve(limits("Two")),
    ]);
    expect(plain(written[2])).to.equal(
      frame(shown("One"), "", "account", "", "Out of date: Redis does not answer.", ""),
    );
    expect(plain(written[3])).to.equal(frame(shown("Two"), "", "account", ""));
  });

  it("say how many lines do not fit into the window", async () => {
    const read = () => Promise.resolve(limits("One"));
    expect(plain((await watched([read], 5))[1])).to.equal(frame(shown("One"), "", "account", ""));
    const cut = "… 2 more lines: make the window larger";
    expect(plain((await watched([read], 4))[1])).to.equal(frame(shown("One"), "", cut));
  });

  it("stay as they were, with the fault, also if what was thrown is no error", async () => {
    // oxlint-disable-next-line no-throw-literal, prefer-promise-reject-errors -- a library may reject with anything
    const odd = () => Promise.reject("gone");
    const written = await watched([() => Promise.resolve(limits("One")), odd]);
    expect(plain(written[2])).to.equal(frame(shown("One"), "", "account", "", "Out of date: gone", ""));
  });

  describe("elsewhere than on a terminal", () => {
    /** Watches until the first table was shown, then stops by this signal. */
    async function printed(signal: "SIGINT" | "SIGTERM", output: object): Promise<string[]> {
      const written: string[] = [];
      const before = process.listeners(signal).length;
      const events = new EventEmitter();
      const first = once(events, "written");
      const write = (text: string) => (written.push(text), events.emit("written"));
      const done = watchLimits(() => Promise.resolve(wide), { write, ...output });
      await first;
      process.listeners(signal).at(-1)?.(signal);
      await done;
      expect(process.listeners(signal).length).to.equal(before);
      return written;
    }
    const wide: AccountLimits = {
      ...limits("One"),
      keys: ["key_1", "key_2"].map((id) => ({ id, name: "k", status: "active", surfaces: [], grants: [] })),
    };

    it("are printed one table after the other, 100 characters wide, without escape codes", async () => {
      const text = frame(shown("One"), "", `${"account".padEnd(48)}k key_1`, "", "k key_2", "");
      for (const signal of ["SIGINT", "SIGTERM"] as const) expect(await printed(signal, {})).to.deep.equal([text]);
    });

    it("have no colours on a terminal if NO_COLOR is set", async () => {
      const { FORCE_COLOR, NO_COLOR } = process.env;
      const colours = async (noColour: string) => {
        Object.assign(process.env, { FORCE_COLOR: "1", NO_COLOR: noColour });
        const written = await printed("SIGINT", { isTTY: true, columns: 120 });
        return written.join("").includes("\u001b[32mactive");
      };
      try {
        expect([await colours(""), await colours("1")]).to.deep.equal([true, false]);
      } finally {
        for (const [name, value] of Object.entries({ FORCE_COLOR, NO_COLOR }))
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
      }
    });
  });

  it("are not watched if the first read fails", async () => {
    const { output, written } = terminal();
    const watching = watchLimits(
      () => Promise.reject(new Error("no such account")),
      output as unknown as Parameters<typeof watchLimits>[1],
    );
    expect(await watching.catch((error: unknown) => String(error))).to.equal("Error: no such account");
    expect(written).to.deep.equal([]);
  });
});
