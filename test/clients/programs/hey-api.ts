/** Uses the client that @hey-api/openapi-ts makes, and prints what it saw as JSON. */
import { readFile } from "node:fs/promises";
import { client } from "./generated/client.gen.js";
import {
  createCandidate,
  listCandidates,
  putDocumentContent,
  readCandidate,
  readDocumentContent,
  readLimits,
} from "./generated/sdk.gen.js";

const { BASE_URL = "", API_KEY = "", FILE = "" } = process.env;
client.setConfig({ baseUrl: BASE_URL, auth: API_KEY });

const { data: candidate } = await createCandidate({
  body: { external_id: "hey-api-1", documents: ["Passport"] },
  headers: { "Idempotency-Key": "hey-api-1" },
  throwOnError: true,
});
if (!("documents" in candidate)) throw new Error("This is the answer of a dry run.");
const path = { id: candidate.id, docId: candidate.documents[0]!.id };

const sent = await readFile(FILE);
await putDocumentContent({ path, body: new Blob([sent]), throwOnError: true });
const { data: read } = await readDocumentContent({ path, parseAs: "blob", throwOnError: true });

const { data: list } = await listCandidates({ throwOnError: true });
const { data: limits } = await readLimits({ throwOnError: true });
const { error, response } = await readCandidate({ path: { id: "cand_none" } });
console.log(
  JSON.stringify({
    candidate: candidate.id,
    state: candidate.state,
    same: Buffer.from(await (read as Blob).arrayBuffer()).equals(sent),
    rows: list.data.filter((row) => !("deleted" in row)).map(({ id }) => id),
    deleted: list.data.filter((row) => "deleted" in row).map(({ id }) => id),
    surfaces: limits.surfaces.length,
    problem: `${response?.status} ${error?.code}`,
  }),
);
