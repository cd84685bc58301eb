import { readFileSync } from "node:fs";
import { mock } from "node:test";
import { expect } from "chai";
import { Collection, Db } from "mongodb";
import { SAFE } from "../faults/limiter/sentinel.ts";
import { useOwnService } from "../support/use-service.ts";

const PAGE = readFileSync("src/docs/operating.md", "utf8");

/** Returns the first two cells of each row of the table that begins with this text. */
function rowsUnder(head: string): [first: string, second: string][] {
  const [table = ""] = PAGE.slice(PAGE.indexOf(`\n| ${head} `) + 1).split("\n\n");
  const rows = table.split("\n").slice(2);
  return rows.map((row) => row.split("|").map((cell) => cell.trim())).map(([, one = "", two = ""]) => [one, two]);
}

/** The collections in the sharding table, each with the first field of its shard key; undefined if it is not sharded. */
const SHARDED = new Map(
  rowsUnder("collection").flatMap(([names, key]) => {
    const field = /\{ (\w+):/.exec(key)?.[1];
    return names.split(", ").map((name) => [name, field] as const);
  }),
);

/** Records which collections are opened, and which indexes are created. */
function watch() {
  return {
    opens: mock.method(Db.prototype, "collection").mock,
    creates: mock.method(Collection.prototype, "createIndexes").mock,
  };
}

describe("operating.md", () => {
  let watched: ReturnType<typeof watch>;
  before(() => {
    watched = watch();
  });
  useOwnService();
  after(() => mock.restoreAll());

  it("has a shard key for each collection that the service and the operators' commands open", () => {
    const opened = new Set<unknown>(watched.opens.calls.map(({ arguments: [name] }) => name));
    expect([...SHARDED.keys()]).to.have.members([...opened]);
  });

  it("lists each index range that a sweep asks every shard for", () => {
    const created = watched.creates.calls.flatMap(({ this: collection, arguments: [indexes] }) =>
      collection instanceof Collection ? indexes.map(({ key }) => [collection.collectionName, key] as const) : [],
    );
    const ranges = created
      .map(([collection, key]) => [collection, Object.keys(key)[0] ?? ""] as const)
      .filter(([collection, field]) => !["account", SHARDED.get(collection) ?? field].includes(field))
      .map((range) => range.join("."))
      .filter((range) => range !== "content.files.filename"); // GridFS prescribes this index, and no query uses it
    const [sentence = ""] = /The sweeps ask every shard .*/.exec(PAGE) ?? [];
    expect(Array.from(sentence.matchAll(/`(\w+\.[\w.]+)`/g), ([, range]) => range)).to.have.members(ranges);
  });

  it("has the settings of Redis that the tests of failovers run with", () => {
    const settings = rowsUnder("setting").flatMap(([names]) => names.split(", "));
    for (const [name, value] of Object.entries(SAFE)) expect(settings).to.include(`\`${name} ${value}\``);
  });
});
