import { expect } from "chai";
import { accountWithKeys } from "../../support/processes.ts";
import { useProcesses } from "../../support/use-service.ts";
import { Bystander } from "./bystander.ts";
import { faultOf, RawConnection } from "./raw.ts";

const MB = 1024 * 1024;
const BODY_MB = 100;
/** Concurrent requests of each kind. */
const EACH = 2;
const PART = Buffer.alloc(MB, "x");
const CHUNK = Buffer.concat([Buffer.from(`${MB.toString(16)}\r\n`), PART, Buffer.from("\r\n")]);
/** Maximum growth of the replicas' memory. Far below the size of all bodies; allows for a chunk of each and for garbage. */
const GROWTH_MB = 150;

describe("the service under a flood of bytes", function () {
  this.timeout(120_000);
  const service = useProcesses({
    REPLICAS: 2,
    LIMIT_SCALE: 1_000,
    LIMITER_TIMEOUT_MS: 5_000,
    STORE_TIMEOUT_MS: 20_000,
  });
  let bystander: Bystander;
  let port: number;
  let auth: string;
  let candidate: string;
  let document: string;
  before(async () => {
    port = Number(new URL(service.url).port);
  });
  beforeEach(async () => {
    const { client } = (await accountWithKeys(service, 1)).keys[0]!;
    const { body } = await client.post("/candidates", { documents: ["CV"] });
    [candidate, document] = [body.id, body.documents[0]?.id ?? ""];
    auth = `Host: x\r\nAuthorization: Bearer ${client.key}\r\n`;
    const pids = new Set(service.log.filter(({ msg }) => msg === "serving").map(({ pid }) => pid));
    bystander = new Bystander(service.url, client.key, () => [...pids]);
  });

  it(`refuses ${BODY_MB} MB bodies, with a length or chunked, as JSON, a file or a form, in bounded memory`, async () => {
    const targets = [
      `POST /candidates HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`,
      `PUT /candidates/${candidate}/documents/${document}/content HTTP/1.1\r\n${auth}Content-Type: application/pdf\r\n`,
      `POST /candidates/${candidate}/documents HTTP/1.1\r\n${auth}Content-Type: multipart/form-data; boundary=b\r\n`,
    ];
    const lengths = [`Content-Length: ${BODY_MB * MB}\r\n\r\n`, "Transfer-Encoding: chunked\r\n\r\n"];
    const heads = targets.flatMap((target) =>
      lengths.flatMap((length) => Array.from({ length: EACH }, () => target + length)),
    );
    const responses = await Promise.all(
      heads.map(async (head) => {
        const connection = new RawConnection(port);
        connection.socket.write(head);
        await connection.pour(head.includes("chunked") ? CHUNK : PART, BODY_MB);
        if (head.includes("chunked")) connection.socket.write("0\r\n\r\n");
        while (connection.received === "" && !connection.socket.destroyed) await new Promise(setImmediate);
        connection.socket.destroy();
        return connection.received;
      }),
    );
    const faults = responses.map(faultOf).filter((fault) => fault !== undefined);
    await expectServed(faults);
    expect(responses.filter((response) => !/^HTTP\/1\.1 4(13|00|22) /.test(response))).to.deep.equal([]);
  });

  it("refuses an endless header and thousands of headers, and closes each connection", async () => {
    const floods = [`X-Endless: ${"x".repeat(8_000)}`, "a: b\r\n".repeat(2_000)];
    const faults: string[] = [];
    await Promise.all(
      floods.flatMap((flood) =>
        Array.from({ length: 20 }, async () => {
          const connection = new RawConnection(port);
          connection.socket.write(`GET /candidates HTTP/1.1\r\n${auth}`);
          const sent = await connection.pour(Buffer.from(flood), 10_000);
          if (!(await connection.closedWithin(5_000))) faults.push(`still open after ${sent} bytes`);
          // The client keeps sending, so a reset may discard the response. A missing response is allowed.
          const fault = faultOf(connection.received);
          if (fault !== undefined) faults.push(fault);
        }),
      ),
    );
    await expectServed(faults);
  });

  async function expectServed(faults: string[]): Promise<void> {
    const grownMb = await bystander.end();
    const { tally } = bystander;
    expect(faults).to.deep.equal([]);
    expect(tally.failures).to.deep.equal([]);
    expect(tally.admitted).to.equal(tally.offered);
    expect(grownMb).to.be.below(GROWTH_MB);
  }
});
