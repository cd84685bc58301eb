import type { Mutant } from "../mutant.ts";

/** Sweeps and their lease, and the expiry of documents. */
export const sweepMutants: readonly Mutant[] = [
  {
    file: "src/candidates/expire.ts",
    before: "expires_on !== null && expires_on < today;",
    after: "expires_on !== null && expires_on <= today;",
    red: ["test/sweeps/expire.test.ts"],
  },
  {
    file: "src/candidates/expire.ts",
    before: "expires(state) && expires_on !== null && expires_on < today",
    after: "expires_on !== null && expires_on < today",
    red: ["test/sweeps/expire.test.ts"],
  },
  {
    file: "src/candidates/expiry-store.ts",
    before: "filter: { _id, account, version },",
    after: "filter: { _id, account, version: { $gte: version } },",
    red: ["test/sweeps/expiries.test.ts"],
  },
  {
    file: "src/candidates/expiry-store.ts",
    before: "Math.max(this.#clock.now(), latest + 1)",
    after: "this.#clock.now()",
    red: ["test/candidates/late-clock.test.ts"],
  },
  {
    file: "src/candidates/expiry-store.ts",
    before: "if (this.#mongo.isLate(place.takenAt)) for (const owner of owners) openWrites.settleLater(owner, place);",
    after: "",
    red: ["test/candidates/unsettled.test.ts"],
  },
  {
    file: "src/sweeps/left-over-bytes.ts",
    before: "!isTombstone(record) && namesFile(record, _id)",
    after: "!isTombstone(record)",
    red: ["test/sweeps/left-overs.test.ts"],
  },
  {
    file: "src/sweeps/left-over-bytes.ts",
    before: "60 * 60 * 1000",
    after: "60 * 1000",
    red: ["test/sweeps/left-overs.test.ts"],
  },
  {
    file: "src/sweeps/lease-store.ts",
    before: "now < held.until + this.#skewMs",
    after: "now < held.until",
    red: ["test/sweeps/leases.test.ts"],
  },
  {
    file: "src/sweeps/lease-store.ts",
    before: "const held = { _id: next._id, term, ...(until === undefined ? {} : { until }) };",
    after: "const held = { _id: next._id, ...(until === undefined ? {} : { until, term: { $lte: term } }) };",
    red: ["test/sweeps/leases.test.ts"],
  },
  {
    file: "src/sweeps/lease-store.ts",
    before: "...(until === undefined ? {} : { until })",
    after: "...(until === undefined ? {} : {})",
    red: ["test/sweeps/leases.test.ts"],
  },
  {
    file: "src/sweeps/lease-store.ts",
    before: "if (isDuplicateKey(error)) return false;",
    after: "if (isDuplicateKey(error)) return true;",
    red: ["test/sweeps/leases.test.ts"],
  },
  {
    file: "src/sweeps/in-batches.ts",
    before: "if (signal.aborted) return count;",
    after: "",
    red: ["test/sweeps/in-batches.test.ts"],
  },
  {
    file: "src/sweeps/runner.ts",
    before: "const givingUp = setTimeout(() => lost.abort(), (this.#leaseMs * 2) / 3);",
    after: "const givingUp = setTimeout(() => void lost, (this.#leaseMs * 2) / 3);",
    red: ["test/sweeps/runner.test.ts"],
  },
  {
    file: "src/sweeps/runner.ts",
    before: "stopping.aborted ? 0 : this.#restMs",
    after: "this.#restMs",
    red: ["test/sweeps/runner.test.ts"],
  },
  {
    file: "src/candidates/expiry-store.ts",
    before: "{ ...limits, ordered: false }",
    after: "limits",
    red: ["test/sweeps/refused-write.test.ts"],
  },
];
