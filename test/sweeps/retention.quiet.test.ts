import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import pLimit from "p-limit";
import { inlineFile } from "../../src/candidates/documents.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore } from "../../src/content/store.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { quantileOf } from "../bench/stats.ts";
import { author, candidateRecord, contentRecord, documentRecord } from "../support/records.ts";
import { useAccount, useProcesses } from "../support/use-service.ts";

const COUNT = Number(process.env.RETENTION_COUNT ?? 1_000);
const DAY_MS = 86_400_000;
/** 100,000 in 2 hours. */
const WANTED_A_SECOND = 100_000 / 7_200;
/** As many as need to be for a p99. */
const BYSTANDER_A_SECOND = 5;

describe("a night in which many candidates are due", function () {
  this.timeout(1_800_000);
  const service = useProcesses({ LIMIT_SCALE: 10_000, RETENTION_NOTICE_HOURS: 0 });
  const account = useAccount(service);

  /** Candidates with two documents each, that nobody has changed for a month. */
  async function seed(): Promise<void> {
    const clock = { now: () => Date.now() - 30 * DAY_MS };
    const [store, content] = [
      new CandidateStore(service.operators.mongo, clock),
      new ContentStore(service.operators.mongo, clock),
    ];
    const data = Buffer.alloc(20_000, "a").toString("base64");
    const one = async () => {
      const id = newTypeId("cand");
      const documents = [];
      for (const name of ["Passport", "CV"]) {
        const {
          id: file_id,
          size,
          sha256,
        } = await content.store(inlineFile({ data }), { accountId: account.id, candidateId: id });
        documents.push(
          documentRecord({ id: newTypeId("doc"), name, content: contentRecord({ file_id, size, sha256 }) }),
        );
      }
      const {
        version: _v,
        state: _s,
        created_at: _c,
        updated_at: _u,
        ...draft
      } = candidateRecord({ id, accountId: account.id, documents });
      await content.settle(
        documents.map((each) => each.content?.file_id ?? ""),
        () => store.insert(draft, author(account.id)),
        () => true,
      );
    };
    await pLimit(4).map(Array.from({ length: COUNT }), one);
  }

  /** Reads and changes a candidate of another account in turn, until the task ends. @returns the sorted times, in milliseconds. */
  async function bystander(task: Promise<unknown>): Promise<number[]> {
    const { client } = await service.account();
    const path = `/candidates/${(await client.post("/candidates", { name: "Ada" })).body.id}`;
    const took: number[] = [];
    let isOver = false;
    void task.finally(() => (isOver = true));
    for (let n = 0; !isOver; n++) {
      const began = performance.now();
      const { status } = await (n % 2 === 0 ? client.get(path) : client.patch(path, { name: `Ada ${n}` }));
      took.push(performance.now() - began);
      expect(status).to.equal(200);
      await wait(Math.max(0, 1_000 / BYSTANDER_A_SECOND - (performance.now() - began)));
    }
    await task;
    return took.toSorted((a, b) => a - b);
  }

  it("erases 100,000 in two hours, and nobody else waits for it", async () => {
    await seed();
    await bystander(wait(5_000)); // warms up
    const before = await bystander(wait(COUNT * 25));
    await account.client.patch("/settings/retention", { erase_after_days: { inactive: 1 } });
    const swept = service.logged((line) => Object(line).sweep === "retention" && Object(line).count > 0);
    const during = await bystander(swept);
    const alone = [...before, ...(await bystander(wait(COUNT * 25)))].toSorted((a, b) => a - b);
    const { count, ms } = Object(await swept) as { count: number; ms: number };
    const rate = count / (ms / 1_000);
    const [p99, p99Alone] = [during, alone].map((times) => quantileOf(times, 0.99)) as [number, number];
    console.log({ rate, p99, p99Alone, p50: quantileOf(during, 0.5), p50Alone: quantileOf(alone, 0.5) });
    expect(count).to.equal(COUNT);
    expect(rate).to.be.above(WANTED_A_SECOND);
    expect(p99 / p99Alone).to.be.below(1.5);
    expect(await service.operators.mongo.db.collection("content.files").find({}).toArray()).to.deep.equal([]);
  });
});
