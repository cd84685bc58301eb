import { expect } from "chai";
import { parseIdempotencyKey } from "../../src/idempotency/idempotency.ts";
import { idsFrom } from "../../src/infra/ids.ts";
import { responseOrThrow, pack, storedRefusal, unpack } from "../../src/idempotency/outcome.ts";
import { Problem, problem } from "../../src/problems.ts";

describe("an Idempotency-Key", () => {
  const codeOf = (field: string) => {
    try {
      return parseIdempotencyKey(field);
    } catch (error) {
      return (error as Problem).code;
    }
  };

  /** Every printable character, in an order in which it is no quoted string. */
  const ASCII = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x7e - n));

  it("is bare or quoted", () => {
    const KEYS: [field: string, key: string][] = [
      ["a", "a"],
      ["a b", "a b"],
      ['a"b', 'a"b'],
      ["a\\b", "a\\b"],
      ['"abc"', "abc"],
      ['" a "', " a "],
      ['"a\\"b\\\\c"', 'a"b\\c'],
      [ASCII, ASCII],
      ["x".repeat(255), "x".repeat(255)],
      [`"${"x".repeat(255)}"`, "x".repeat(255)],
      [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
    ];
    for (const [field, key] of KEYS) expect(codeOf(field), field.slice(0, 20)).to.equal(key);
  });

  it("is refused if it is empty, too long, badly quoted or not printable ASCII", () => {
    for (const field of [
      "",
      '""',
      '"',
      '"a',
      '"a"b',
      '"a\\b"',
      '"a"b"',
      '"a", "b"',
      " a",
      "clé",
      "a\u007f",
      "a\tb",
      '"é"',
      "x".repeat(256),
      `"${"x".repeat(256)}"`,
    ])
      expect(codeOf(field), field.slice(0, 20)).to.equal("malformed_request");
  });
});

describe("the identifiers of repeated work", () => {
  const TIME = Date.parse("2026-11-21T10:00:00.000Z");

  it("are the same for each attempt, and counted for each prefix", () => {
    const make = () => {
      const next = idsFrom("seed", TIME);
      return [next("cand"), next("doc"), next("doc"), next("ref"), next("doc")];
    };
    const ids = make();
    expect(make()).to.deep.equal(ids);
    // A later release must make the same ids: during a rollout, a retry may reach a replica that runs another release.
    expect(ids).to.deep.equal([
      "cand_01m7yrrt80f5zbdq4wk1gj9y7x",
      "doc_01m7yrrt80ergr61yd4yhdf75c",
      "doc_01m7yrrt80ewhtcpkp6thx7gkp",
      "ref_01m7yrrt80f8sssjgzw1sf0bnk",
      "doc_01m7yrrt80e6mbv451az6dfezc",
    ]);
    const alone = idsFrom("seed", TIME);
    expect([alone("doc"), alone("doc"), alone("doc")]).to.deep.equal([ids[1], ids[2], ids[4]]);
  });

  it("depend on the seed and the time", () => {
    const first = idsFrom("seed", TIME)("doc");
    expect(first).to.match(/^doc_[0-9a-z]{26}$/);
    const random = (id: string) => id.slice(-16);
    expect(random(idsFrom("other", TIME)("doc"))).to.not.equal(random(first));
    expect(idsFrom("seed", TIME + 1)("doc")).to.not.equal(first);
    expect(random(idsFrom("seed", TIME)("ref")), "of another prefix").to.not.equal(random(first));
  });
});

describe("a stored outcome", () => {
  it("is the response, byte for byte", async () => {
    const answer = { status: 201, body: Buffer.from('{"name":"Zoë"}'), headers: { ETag: '"1"' } } as never;
    const stored = JSON.parse(JSON.stringify(await unpack(await pack({ answer }))));
    expect(stored).to.deep.equal({ answer: { status: 201, body: '{"name":"Zoë"}', headers: { ETag: '"1"' } } });
  });

  it("is the refusal with its headers and without its cause, and says that it is a replay only if it is one", async () => {
    const cause = new Error("secret");
    const refusal = problem("version_mismatch", "Changed.", { headers: { "X-A": "1" }, members: { a: 1 }, cause });
    const outcome = await unpack(await pack(storedRefusal(refusal)));
    const thrown = (replayed: boolean) => {
      try {
        return responseOrThrow(outcome, replayed ? { "Idempotent-Replayed": "true" } : {});
      } catch (error) {
        const { code, message, extras } = error as Problem;
        return { code, message, extras };
      }
    };
    const expected = { code: "version_mismatch", message: "Changed." };
    expect(thrown(false)).to.deep.equal({ ...expected, extras: { headers: { "X-A": "1" }, members: { a: 1 } } });
    expect(thrown(true)).to.deep.equal({
      ...expected,
      extras: { headers: { "X-A": "1", "Idempotent-Replayed": "true" }, members: { a: 1 } },
    });
  });
});
