import { expect } from "chai";
import { sweepStore } from "../../src/candidates/sweep-store.ts";
import { missingWords } from "../../src/sweeps/sweep.ts";
import { useWorkbench } from "../reminders/workbench.ts";

const go = new AbortController().signal;

describe("the sweep of missing words", () => {
  const { mongo, bench } = useWorkbench();
  const found = async (word: string) =>
    (await bench.candidates.reader.feed({ accountId: bench.accountId, after: "", words: [word], limit: 10 })).rows
      .length;

  it("makes the candidates of 0.1.0 findable, once, and leaves their place in the feed", async () => {
    const id = await bench.candidate({ email: "ada@example.com" });
    const erased = await bench.candidate({ email: "ann@example.com" });
    await bench.candidates.erase(bench.accountId, erased, "key_1", () => undefined);
    const stored = mongo.db.collection<{ _id: string }>("candidates");
    await stored.updateMany({}, { $unset: { words: "", words_form: "" } });
    const before = await stored.findOne({ _id: id });
    expect(await found("ad")).to.equal(0);
    const sweep = missingWords(sweepStore(mongo, bench.candidates.reader));
    expect([await sweep.run(go), await sweep.run(go)]).to.deep.equal([2, 0]);
    expect([await found("ad"), await found("ann")]).to.deep.equal([1, 0]);
    const {
      words: _words,
      words_form: _form,
      ...after
    } = { words: 0, words_form: 0, ...(await stored.findOne({ _id: id })) };
    expect(after).to.deep.equal(before);
  });
});
