/** Uses the client that openapi-generator makes for TypeScript with fetch, and prints what it saw as JSON. */
import { readFile } from "node:fs/promises";
import { CandidatesApi, Configuration, DocumentsApi, LimitsApi, ResponseError } from "./generated/index.js";

const { BASE_URL = "", API_KEY = "", FILE = "" } = process.env;
const configuration = new Configuration({ basePath: BASE_URL, accessToken: API_KEY });
const candidates = new CandidatesApi(configuration);
const documents = new DocumentsApi(configuration);

const candidate = await candidates.createCandidate({
  candidateInput: { external_id: "fetch-1", documents: ["Passport"] },
  idempotencyKey: "fetch-1",
});
const at = { id: candidate.id, docId: candidate.documents[0]!.id };

const sent = await readFile(FILE);
await documents.putDocumentContent({ ...at, body: new Blob([sent]) });
const read = await documents.readDocumentContent(at);

const { data } = await candidates.listCandidates();
const refused = await candidates.readCandidate({ id: "cand_none" }).catch((error: unknown) => error);
const problem = refused instanceof ResponseError ? ((await refused.response.json()) as { code: string }) : undefined;
console.log(
  JSON.stringify({
    candidate: candidate.id,
    state: candidate.state,
    same: Buffer.from(await read.arrayBuffer()).equals(sent),
    rows: data.filter((row) => !("deleted" in row)).map(({ id }) => id),
    deleted: data.filter((row) => "deleted" in row).map(({ id }) => id),
    surfaces: (await new LimitsApi(configuration).readLimits()).surfaces.length,
    problem: `${refused instanceof ResponseError ? refused.response.status : ""} ${problem?.code}`,
  }),
);
