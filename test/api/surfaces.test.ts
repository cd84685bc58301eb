import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";

const ID = "cand_00000000000000000000000000";
const CANDIDATE = `/candidates/${ID}`;
const DOCUMENT = `${CANDIDATE}/documents/doc_00000000000000000000000000`;
const REFERENCE = "/references/ref_00000000000000000000000000";

/** The surface of every operation, as the specification's table of limits has it. Most answer 404 here, and are charged. */
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

describe("the surface that an operation charges", () => {
  const account = useAccount();

  for (const [operation, surface] of Object.entries(SURFACES)) {
    it(`is ${surface ?? "none"} for ${operation.replaceAll(/_0+/g, "_…")}`, async () => {
      const [method = "", path = ""] = operation.split(" ");
      const hasBody = !["GET", "DELETE"].includes(method);
      const { status } = await account.client.request(method, path, hasBody ? { json: {} } : {});
      expect(status).to.be.oneOf([200, 201, 404, 422]);
      expect(await account.used()).to.deep.equal(surface === undefined ? {} : { [surface]: 1 });
    });
  }
});
