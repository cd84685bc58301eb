import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "chai";
import fc from "fast-check";
import { useService } from "../../support/use-service.ts";
import { exchange, type Received, type Sent } from "./exchange.ts";
import { type Operation, operationsOf, requestsFor } from "./operations.ts";
import type { JsonSchema } from "./schema-arbitrary.ts";
import { everythingOf, makeWorld, type World } from "./world.ts";

/** Number of requests for each operation. */
const RUNS = Number(process.env.CONTRACT_RUNS ?? 15);
/** CI always uses the same input, so that a build fails only for its own change. Elsewhere each run gets new input. */
const SEED = Number(process.env.CONTRACT_SEED ?? (process.env.CI ? 20_261_121 : Math.floor(Math.random() * 2 ** 31)));

interface Exchange {
  sent: Sent;
  received: Received;
  ajv: Ajv2020;
  world: World;
}

describe("every operation, with input generated from the contract,", function () {
  this.timeout(120_000);
  const service = useService({ LIMIT_SCALE: 1_000_000, LIMITER_TIMEOUT_MS: 5_000, STORE_TIMEOUT_MS: 20_000 });
  let contract: JsonSchema;
  before(async () => {
    contract = (await (await fetch(`${service.url}/openapi.json`)).json()) as JsonSchema;
  });

  it("never fails, stays within the contract, and reveals nothing of another account", async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: true });
    addFormats.default(ajv);
    ajv
      .addFormat("idn-email", true)
      .addFormat("time-zone", true)
      .addFormat("language-tag", true)
      .addFormat("base64", true)
      .addFormat("binary", true);
    ajv.addSchema(contract, "contract");
    const breaches = new Map<string, string>();
    let good = 0;
    let touched = 0;
    for (const operation of operationsOf(contract)) {
      const world = await makeWorld(service);
      const before = await everythingOf(world.neighbour, world.theirs);
      for (const sent of fc.sample(requestsFor(operation, contract, world), { numRuns: RUNS, seed: SEED })) {
        const key = { Authorization: `Bearer ${world.account.key}` };
        const received = await exchange(service.url, { ...sent, headers: { ...sent.headers, ...key } }).catch(
          (error: Error) => error,
        );
        const breach =
          received instanceof Error
            ? `broken connection: ${received.message}`
            : breachOf(operation, { sent, received, ajv, world });
        if (!(received instanceof Error) && received.status < 300) good++;
        if (breach !== undefined)
          breaches.set(`${operation.method} ${operation.template}: ${breach}`, describeRequest(sent));
      }
      if ((await everythingOf(world.neighbour, world.theirs)) !== before) touched++;
    }
    process.stdout.write(`      CONTRACT_SEED=${SEED}\n`);
    expect([...breaches].map(([breach, request]) => `${breach}\n  ${request}`)).to.deep.equal([]);
    expect(good, "enough of it was good").to.be.above(RUNS * 4);
    expect(touched, "changes to what a neighbour has").to.equal(0);
  });

  function breachOf({ responses }: Operation, { sent, received, ajv, world }: Exchange): string | undefined {
    const { status, mediaType, text } = received;
    if (status >= 500) return `${status} ${text.slice(0, 300)}`;
    const response = responses[status] ?? responses[`${Math.floor(status / 100)}XX`];
    if (response === undefined) return `${status} is not in the contract: ${text.slice(0, 200)}`;
    const sentText = JSON.stringify([sent.path, sent.body?.toString()]);
    const foreign = [
      world.marker,
      world.neighbour.id,
      world.neighbour.keyId,
      ...world.theirs.candidates,
      ...world.theirs.references,
    ];
    const leaked = foreign.find((word) => text.includes(word) && !sentText.includes(word));
    if (leaked !== undefined) return `${status} reveals data of another account: ${leaked}`;
    if (text === "") return undefined;
    const content = response.content ?? {};
    const isFile = !(mediaType in content) || "*/*" in content;
    if (isFile && !("*/*" in content)) return `${status} with media type ${mediaType} is not in the contract`;
    if (isFile || !mediaType.endsWith("json")) return undefined;
    const check = ajv.compile({ $ref: `contract${content[mediaType]?.schema.$ref}` });
    return check(JSON.parse(text))
      ? undefined
      : `${status} has a body that does not match the contract: ${ajv.errorsText(check.errors)}`;
  }
});

function describeRequest({ path, headers, body }: Sent): string {
  return `${path} ${JSON.stringify(headers)} ${body === undefined ? "" : Buffer.from(body).toString().slice(0, 400)}`;
}
