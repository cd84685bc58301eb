import { expect } from "chai";
import { type Processes, spawnService } from "../support/processes.ts";
import { fillDue, rateAlone, rateOf } from "./due.ts";
import { mailSettings, type Treatment, useMailServer } from "./mail-server.ts";

const CONNECTIONS = 10;
const SLOW_MS = 200;
const VERY_SLOW_MS = 3_000;
const SECONDS = 15;
/** Number of messages that are sent before the rate is measured. */
const WARM_UP = 300;
const DUE = 1_500;

describe("One replica with many reminders that are due", function () {
  this.timeout(120_000);
  const mail = useMailServer();
  let service: Processes | undefined;

  afterEach(async () => {
    await service?.stop();
    mail.taken.length = 0;
  });

  /** Returns the messages that it sends in a second, in its steady state. */
  async function rate(perMinute: number, treat: () => Treatment): Promise<number> {
    mail.treat = ({ at }) => (at === "rcpt" ? treat() : "accept");
    service = await spawnService({
      ...mailSettings(mail),
      MAIL_PER_MINUTE: perMinute,
      MAIL_CONNECTIONS: CONNECTIONS,
      MAIL_PER_ACCOUNT_PER_DAY: 1_000_000,
      MAIL_NEW_ADDRESSES_PER_DAY: 1_000_000,
    });
    const { id } = await service.account();
    await fillDue(service.operators.mongo.db, id, DUE);
    await mail.received(mail.taken.length + WARM_UP);
    return rateOf(() => mail.taken.length, SECONDS);
  }
  const slow = (stallMs = SLOW_MS) => ({ at: "rcpt", stallMs }) as const;

  it("sends MAIL_PER_MINUTE messages a minute, also above 900", async () => {
    expect(await rate(1_800, () => "accept")).to.be.within(27, 31);
  });

  it("has at least 90 % of what ten connections alone do", async () => {
    const sent = await rate(100_000, () => slow());
    await service?.stop();
    service = undefined;
    expect(sent).to.be.at.least(0.9 * (await rateAlone(mail.url, CONNECTIONS, SECONDS)));
  });

  it("lets one slow message in twenty cost the others nothing", async () => {
    let messages = 0;
    const sent = await rate(100_000, () => slow(++messages % 20 === 0 ? VERY_SLOW_MS : SLOW_MS));
    await service?.stop();
    service = undefined;
    expect(sent).to.be.at.least(0.9 * (await rateAlone(mail.url, CONNECTIONS, SECONDS)));
  });
});
