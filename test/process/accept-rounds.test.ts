import type { Worker } from "node:cluster";
import { EventEmitter, once } from "node:events";
import { expect } from "chai";
import { AcceptRounds } from "../../src/process/accept-rounds.ts";

/** A replica of which the test decides what it receives and reports. */
class FakeReplica extends EventEmitter {
  readonly id: number;

  constructor(id: number) {
    super();
    this.id = id;
  }

  /** The supervisor's question how many connections remain. */
  send({ accept }: { accept: object }): void {
    this.emit("order", accept);
  }

  isDead(): boolean {
    return false;
  }

  report(accept: unknown): void {
    this.emit("message", { accept });
  }
}

describe("The rounds in which replicas accept", () => {
  /** Every allowance that was sent, with the replica's id. */
  let sent: { id: number; round: number; allowance: number }[];
  let rounds: AcceptRounds;
  let closed: number;
  beforeEach(() => {
    sent = [];
    closed = 0;
    rounds = new AcceptRounds({
      send: (worker, message) => {
        const { accept } = message as { accept: { round: number; allowance: number } };
        sent.push({ id: worker.id, ...accept });
        worker.emit("order", { round: accept.round });
      },
      close: () => void closed++,
    });
  });

  function join(id: number): FakeReplica {
    const replica = new FakeReplica(id);
    rounds.watch(replica as unknown as Worker);
    replica.report("accepts");
    return replica;
  }

  it("begin once every replica has used up its allowance", () => {
    const [first, second] = [join(1), join(2)];
    first.report({ round: 1, remaining: 0 });
    expect(sent).to.have.length(2);
    second.report({ round: 1, remaining: 0 });
    expect(sent.slice(2)).to.deep.equal([
      { id: 1, round: 2, allowance: 3 },
      { id: 2, round: 2, allowance: 3 },
    ]);
  });

  it("end when the service stops: each replica accepts what it can, and the port closes after the last one", () => {
    const [first, second] = [join(1), join(2)];
    rounds.stop();
    expect(sent.slice(2)).to.deep.equal([
      { id: 1, round: 2, allowance: Infinity },
      { id: 2, round: 2, allowance: Infinity },
    ]);
    join(3);
    expect(sent, "no replica joins any more").to.have.length(4);
    first.emit("exit");
    expect(closed).to.equal(0);
    second.emit("exit");
    expect(closed).to.equal(1);
  });

  it("begin when the one that is behind exits or leaves", () => {
    const [first, second, third] = [join(1), join(2), join(3)];
    first.report({ round: 1, remaining: 0 });
    second.emit("exit");
    expect(sent).to.have.length(3);
    third.report("leaves");
    expect(sent.at(-1)).to.include({ id: 1, round: 2 });
  });

  it("send an allowance again that was lost, and only then", async () => {
    const replica = join(1);
    expect(await once(replica, "order")).to.deep.equal([{ remainingOf: 1 }]);
    replica.report({ asked: 1, round: 0, remaining: 0 });
    expect(sent).to.deep.equal([
      { id: 1, round: 1, allowance: 3 },
      { id: 1, round: 2, allowance: 3 },
    ]);
    expect(await once(replica, "order")).to.deep.equal([{ remainingOf: 2 }]);
    replica.report({ asked: 2, round: 2, remaining: 2 });
    expect(sent).to.have.length(2);
  });

  it("do not mistake an answer that a report has overtaken for a lost allowance", () => {
    const replica = join(1);
    replica.report({ round: 1, remaining: 0 });
    replica.report({ asked: 1, round: 1, remaining: 0 });
    expect(sent.map(({ round }) => round)).to.deep.equal([1, 2]);
  });

  it("wait a tenth of a second for a slow replica, then go on; while it stays slow, allowances double", async () => {
    const [first, second] = [join(1), join(2)];
    for (const round of [1, 2]) {
      const asked = once(second, "order");
      first.report({ round, remaining: 0 });
      await asked;
      second.report({ asked: round, round, remaining: 1 });
    }
    expect(sent.slice(2).map(({ id, allowance }) => [id, allowance])).to.deep.equal([
      [1, 3],
      [2, 3],
      [1, 6],
      [2, 6],
    ]);
    second.report({ round: 2, remaining: 0 });
    first.report({ round: 3, remaining: 0 });
    expect(sent).to.have.length(6);
    second.report({ round: 3, remaining: 0 });
    expect(sent).to.have.length(8);
  });

  it("do not wait for a replica that does not answer, until it does", async () => {
    const [first, second] = [join(1), join(2)];
    for (const round of [1, 2]) {
      const next = once(first, "order");
      first.report({ round, remaining: 0 });
      expect(await next).to.deep.equal([{ round: round + 1 }]);
    }
    expect(sent.filter(({ id }) => id === 2)).to.have.length(2);
    first.report({ round: 3, remaining: 0 });
    expect(sent.at(-1)).to.include({ id: 1, round: 4 });
    second.report({ asked: 2, round: 2, remaining: 1 });
    first.report({ round: 4, remaining: 0 });
    expect(sent.at(-1)).to.include({ id: 1, round: 4 });
    second.report({ round: 2, remaining: 0 });
    expect(sent.slice(-2).map(({ id }) => id)).to.deep.equal([1, 2]);
  });

  it("give the last one that serves no limit when it leaves", () => {
    const replica = join(1);
    replica.report("leaves");
    expect(sent.at(-1)).to.deep.equal({ id: 1, round: 2, allowance: Infinity });
  });
});
