import type { Mutant } from "../mutant.ts";

/** The writes of candidates: compare-and-set, places in the feed, and the records that a process keeps. */
export const candidateWriteMutants: readonly Mutant[] = [
  {
    file: "src/candidates/store.ts",
    before: "this.#candidates.replaceOne({ _id, account, version }, stored, limits),",
    after: "this.#candidates.replaceOne({ _id, account, version: { $lte: version + 1e6 } }, stored, limits),",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "this.#candidates.replaceOne({ _id, account, version }, stored, limits),",
    after: "this.#candidates.replaceOne({ _id, version }, stored, limits),",
    red: ["test/candidates"],
    equal: "What is replaced was read with the account just before, and an id never belongs to another account later.",
  },
  {
    file: "src/candidates/store.ts",
    before: "return matchedCount === 1;",
    after: "return matchedCount >= 0;",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (own !== null && isTombstone(own)) throw candidateDeleted(draft.id);",
    after: 'if (own !== null && isTombstone(own)) throw new Problem("not_found", "x");',
    red: ["test/candidates/races.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (own !== null) return own;",
    after: "",
    red: ["test/candidates/races.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "const own = await this.reader.find(draft.accountId, draft.id);",
    after: "const own = await this.reader.find(draft.accountId, draft.external_id ?? draft.id);",
    red: ["test/candidates/races.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "    checkSize(record, now);\n",
    after: "",
    red: ["test/candidates/dry-run.test.ts"],
    equal:
      "A body of at most 1 MiB cannot describe a record of more than 2 MiB: only the numbers in responses grow, up to 16 KiB a response.",
  },
  {
    file: "src/candidates/store.ts",
    before: "    await refuseTaken(this.reader, draft);\n    return record;",
    after: "    return record;",
    red: ["test/candidates/dry-run.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "return this.#queue.run(`${accountId} ${id}`, () => this.#write(accountId, id, edit));",
    after: "return this.#queue.run(id, () => this.#write(accountId, id, edit));",
    red: ["test/candidates"],
    equal: "A candidate's id is unique across accounts, so the queues are the same.",
  },
  {
    file: "src/candidates/store.ts",
    before: "const recent = this.#recent.get(accountId, id);",
    after: "const recent = this.#recent.get(accountId.slice(0, 0), id);",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (written === undefined) this.#recent.avoid(recent.accountId, recent.id);",
    after: "",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "return written === recent ? undefined : written;",
    after: "return written;",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: 'if (error instanceof Problem && error.code !== "store_unavailable") return undefined;',
    after: "",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before:
      "    const place = take(() => Math.max(this.#clock.now(), Date.parse(before.updated_at) + 1));\n    const edited",
    after: "    const place = take(() => this.#clock.now());\n    const edited",
    red: ["test/candidates/late-clock.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before:
      "    const place = take(() => Math.max(this.#clock.now(), Date.parse(before.updated_at) + 1));\n    const edited",
    after:
      "    const place = take(() => Math.max(this.#clock.now(), Date.parse(before.updated_at)));\n    const edited",
    red: ["test/candidates/late-clock.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before:
      "    const place = take(() => Math.max(this.#clock.now(), Date.parse(before.updated_at) + 1));\n    const tombstone",
    after: "    const place = take(() => this.#clock.now());\n    const tombstone",
    red: ["test/candidates/late-clock.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (edited === before) return before;",
    after: "",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (mayBeOld && added.length > 0) return before;",
    after: "",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "added.length === 0 ? place : later()",
    after: "added.length === 0 ? place : place",
    red: ["test/candidates/late-clock.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "      await refuseTaken(this.reader, record);\n",
    after: "",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (!this.#mongo.isLate(place.takenAt)) return record;",
    after: "return record;",
    red: ["test/candidates/standstill.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "      this.openWrites.settleLater(record, place);\n",
    after: "",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (isTombstone(before)) return before;",
    after: "if (isTombstone(before)) throw candidateDeleted(id);",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "        check(before);\n",
    after: "",
    red: ["test/erasure/erase.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before:
      "if (!(await this.#replace(before.version, encodeTombstone(tombstone, place.at), place))) return undefined;",
    after: "await this.#replace(before.version, encodeTombstone(tombstone, place.at), place);",
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "    this.#recent.avoid(before.accountId, before.id);\n",
    after: "",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (!this.#mongo.isLate(place.takenAt)) return tombstone;",
    after: "if (place.takenAt > 0) return tombstone;",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "if (found === null) return false;",
    after: "if (found === null) return true;",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "      await this.change(accountId, id, copy);\n",
    after: "",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before:
      "    await this.#bury(found, (at) => again(found, at)); // if another write came in between, that one has a new place\n",
    after: "",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/candidates/store.ts",
    before: "return { ...record };",
    after: "return record;",
    red: ["test/candidates/standstill.test.ts"],
  },
  {
    file: "src/candidates/recent.ts",
    before: "const found = this.#records.get(`${accountId} ${id}`);",
    after:
      "const found = this.#records.get([...this.#records.keys()].find((key) => key.endsWith(` ${id}`)) ?? accountId);",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/recent.ts",
    before: "if (erasure !== null) return this.avoid(accountId, id);",
    after: 'if (erasure !== null && erasure.at === "") return this.avoid(accountId, id);',
    red: ["test/erasure/races.test.ts"],
  },
  {
    file: "src/candidates/recent.ts",
    before: "known.version >= version)",
    after: "known.version > 1e9 + version)",
    red: ["test/candidates/round-trips.test.ts"],
  },
  {
    file: "src/candidates/recent.ts",
    before: "if (known === MARK || (known",
    after: "if ((known !== MARK && known",
    red: ["test/candidates/round-trips.test.ts"],
  },
];
