import { expect } from "chai";
import { isSurface, limitsOf } from "../../src/limiter/surfaces.ts";
import { useAccount } from "../support/use-service.ts";

const ID = "cand_00000000000000000000000000";
const CANDIDATE = `/candidates/${ID}`;
const DOCUMENT = `${CANDIDATE}/documents/doc_00000000000000000000000000`;
const REFERENCE = "/references/ref_00000000000000000000000000";

/** The surface of every operation, as the specification's table of limits has it. Most respond with 404 here, and are charged. */
const SURFACES = {
  "GET /limits": undefined,
  "POST /candidates": "create",
  "POST /candidates?dry_run=true": "reads",
  "GET /candidates": "list",
  [`GET ${CANDIDATE}`]: "reads",
  [`PATCH ${CANDIDATE}`]: "writes",
  [`DELETE ${CANDIDATE}`]: "writes",
  [`POST ${CANDIDATE}/start`]: "start",
  [`PATCH ${CANDIDATE}/outreach`]: "writes",
  [`GET ${CANDIDATE}/pack`]: "pack",
  [`POST ${CANDIDATE}/documents`]: "writes",
  [`GET ${DOCUMENT}`]: "reads",
  [`PATCH ${DOCUMENT}`]: "writes",
  [`DELETE ${DOCUMENT}`]: "writes",
  [`PUT ${DOCUMENT}/content`]: "writes",
  [`GET ${DOCUMENT}/content`]: "reads",
  [`POST ${CANDIDATE}/references`]: "writes",
  [`GET ${REFERENCE}`]: "reads",
  [`PATCH ${REFERENCE}`]: "writes",
  [`DELETE ${REFERENCE}`]: "writes",
  "GET /settings/assistant": "reads",
  "PATCH /settings/assistant": "settings",
  "GET /settings/quiet-hours": "reads",
  "PATCH /settings/quiet-hours": "settings",
};

/** Returns RateLimit-Policy for a surface, and the names in RateLimit. */
function policiesOf(surface = ""): [header: string | null, names: string[]] {
  if (!isSurface(surface)) return [null, []];
  const { account, key } = limitsOf(surface, 1);
  const header = `"account-${surface}";q=${account};w=86400, "key-${surface}";q=${key};w=86400`;
  return [header, named(header)];
}

function named(header: string | null): string[] {
  return [...(header ?? "").matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
}

describe("the surface that an operation charges", () => {
  const account = useAccount();

  for (const [operation, surface] of Object.entries(SURFACES)) {
    it(`is ${surface ?? "none"} for ${operation.replaceAll(/_0+/g, "_…")}, and both headers name it`, async () => {
      const [method = "", path = ""] = operation.split(" ");
      const hasBody = !["GET", "DELETE"].includes(method);
      const { status, headers } = await account.client.request(method, path, hasBody ? { json: {} } : {});
      expect(status).to.be.oneOf([200, 201, 404, 422]);
      expect(await account.used()).to.deep.equal(surface === undefined ? {} : { [surface]: 1 });
      expect([headers.get("ratelimit-policy"), named(headers.get("ratelimit"))]).to.deep.equal(policiesOf(surface));
    });
  }
});
