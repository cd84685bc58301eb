import { DOCUMENT_MOVES } from "../../src/candidates/moves.ts";
import { STATE_RULES } from "../../src/candidates/states.ts";
import { expect } from "chai";
import { PROBLEMS } from "../../src/problems.ts";
import { useService } from "../support/use-service.ts";

interface Property {
  readonly properties?: Record<string, Property>;
}

interface Contract {
  readonly tags: { readonly name: string }[];
  readonly paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        tags: string[];
        parameters?: { name?: string; $ref?: string }[];
        responses: Record<string, ContractAnswer | { $ref: string }>;
      }
    >
  >;
  readonly components: {
    readonly schemas: Record<string, Property>;
    readonly responses?: Record<string, ContractAnswer>;
  };
}

interface ContractAnswer {
  readonly description: string;
  readonly headers?: Record<string, unknown>;
}

describe("the reference", function () {
  this.timeout(60_000);
  const service = useService();
  let contract: Contract;
  const page = async (path: string) => (await fetch(service.url + path)).text();
  before(async () => {
    contract = JSON.parse(await page("/openapi.json")) as Contract;
  });

  const operations = () =>
    Object.entries(contract.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
    );

  const resolved = (answer: ContractAnswer | { $ref: string }): ContractAnswer => {
    if (!("$ref" in answer)) return answer;
    const found = contract.components.responses?.[answer.$ref.split("/").at(-1) ?? ""];
    if (found === undefined) throw new Error(`The contract has no ${answer.$ref}.`);
    return found;
  };

  /** Returns the part of a page that begins with this id and ends where the next operation begins. */
  const sectionOf = (text: string, id: string) => {
    const [, rest = ""] = text.split(`id="${id}"`);
    return rest.split("<h2")[0] ?? "";
  };

  it("has every operation, with its path, parameters, responses and problems", async () => {
    expect(operations()).not.to.have.length(0);
    for (const { operationId, tags, path, method, parameters = [], responses } of operations()) {
      const text = await page(`/docs/reference-${tags[0]?.toLowerCase()}`);
      const section = sectionOf(text, operationId);
      expect(section, operationId).to.include(`>${method}</span> <code>${path}</code>`);
      for (const { name = "", $ref = "" } of parameters)
        expect(section, operationId).to.include(`<code>${name || $ref.split("/").at(-1)}</code>`);
      for (const [status, answer] of Object.entries(responses)) {
        const { description, headers = {} } = resolved(answer);
        const expected = /^[45]/.test(status)
          ? description.split(", ").map((code) => `href="/docs#${code}"`)
          : [`<td>${status}</td>`, ...Object.keys(headers).map((name) => `href="/docs/headers#${name.toLowerCase()}"`)];
        for (const part of expected) expect(section, `${operationId} ${status}`).to.include(part);
      }
      expect(section, `${operationId}: an example`).to.include("curl");
    }
  });

  it("says in a red box, wherever a reader may start a candidate, who is mailed and how to mail nobody", async () => {
    const start = sectionOf(await page("/docs/reference-candidates"), "startCandidate");
    for (const text of [start, await page("/docs/backfills"), await page("/docs/quick-start")]) {
      const [, box = ""] = /<div class="caution" role="note">(.*?)<\/div>/s.exec(text) ?? [];
      expect(box)
        .to.match(/[Ww]ithin seconds/)
        .and.include("referee")
        .and.include("outreach_enabled");
      expect(box).not.to.match(/\*\*|CAUTION/);
    }
    expect(textOf(start)).to.include("answered unchanged. Charges the surface");
  });

  it("has every field of every schema, at an address of its own", async () => {
    const text = await page("/docs/schemas");
    const expectFields = (schema: Property, prefix: string) => {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        expect(text).to.include(`id="${prefix}.${name}"`);
        expectFields(property, `${prefix}.${name}`);
      }
    };
    for (const [name, schema] of Object.entries(contract.components.schemas)) {
      expect(text).to.include(`id="${name.toLowerCase()}"`);
      expectFields(schema, name.toLowerCase());
    }
    expect(text).to.include('id="candidate.reference_requirements"');
  });

  it("has every problem on /docs under its code, with when it is answered and what to do", async () => {
    const text = await page("/docs");
    for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
      const section = text.split(`id="${code}"`)[1]?.split("</section>")[0];
      expect(section, code).to.include(`${status} ${title}`).and.include("What to do.");
    }
    const { retry_after } = JSON.parse(textOf(text.split('id="rate_limited"')[1]?.split("<pre")[1] ?? "")) as {
      retry_after: number;
    };
    expect(retry_after).to.be.a("number");
  });

  it("shows what stands between < and > in a text of the contract", async () => {
    expect(await page("/docs/headers")).to.include("Authorization: Bearer &lt;key&gt;");
  });

  it("draws the states from the tables that the code uses", async () => {
    const text = await page("/docs/states");
    const cells = Array.from(text.matchAll(/<td>(.*?)<\/td>/gs), ([, cell = ""]) => textOf(`>${cell}`));
    for (const { state, when } of STATE_RULES) expect(cells).to.include.members([`if ${when}`, state]);
    for (const { from, to, when } of Object.values(DOCUMENT_MOVES))
      expect(cells).to.include.members([from.join(", "), when, to]);
  });

  it("has the change history, newest first", async () => {
    const text = await page("/docs/history");
    const dates = Array.from(text.matchAll(/<h[23] id="(\d{4}-\d\d-\d\d)"/g), ([, date = ""]) => date);
    expect(dates).to.have.length.above(2);
    expect(dates).to.deep.equal(dates.toSorted((a, b) => b.localeCompare(a)));
  });
});

/** Returns the text of the first element that begins in this HTML, without the elements in it. */
function textOf(markup: string): string {
  return (
    markup
      .replace(/^[^>]*>/, "")
      .split("</pre>")[0]
      ?.replaceAll(/<[^>]*>/g, "")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&")
      .trim() ?? ""
  );
}
