import type { Document } from "mongodb";
import { newTypeId } from "../../src/infra/ids.ts";
import type { Bench } from "./bench.ts";
import type { Service } from "./service.ts";

const DOCUMENTS = ["Passport", "Right to work", "Proof of address", "Degree certificate", "Background check"];

/** A candidate as a hiring platform sends it: 5 documents and 3 references. */
export function candidateInput(n: number): string {
  return JSON.stringify({
    external_id: `ats-${n}`,
    name: `Ada Lovelace ${n}`,
    email: `ada.${n}@example.com`,
    job_title: "Analyst",
    start_date: "2027-01-04",
    metadata: { team: "engines", office: "London" },
    documents: DOCUMENTS.map((name) => ({ name, metadata: { source: "ats" } })),
    references: ["Charles Babbage", "Mary Somerville", "Michael Faraday"].map((name, place) => ({
      name,
      email: `referee.${n}.${place}@example.com`,
      company: "Royal Society",
      relationship: "Manager",
    })),
  });
}

/** Creates candidates through the API. @returns their ids. */
export async function createCandidates(service: Service, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { body } = await service.send("POST", "/candidates", { status: 201, body: candidateInput(n) });
    ids.push((JSON.parse(body.toString()) as { id: string }).id);
  }
  return ids;
}

/** Rows of one insert. */
const BATCH = 500;

/**
 * Fills an account with copies of one stored candidate, in the form in which the service stored it, with ids, places in the
 * feed and external_ids of their own. To create them through the API would take hours.
 */
export async function fill(bench: Bench, accountId: string, template: Document, count: number): Promise<void> {
  const candidates = bench.mongo.db().collection<Document & { _id: string }>("candidates");
  const begin = Date.now() - 3_600_000 - count;
  for (let done = 0; done < count; done += BATCH) {
    bench.signal.throwIfAborted();
    const copies = Array.from({ length: Math.min(BATCH, count - done) }, (_, offset) => {
      const n = done + offset;
      const id = newTypeId("cand");
      const change = `${String(begin + n).padStart(15, "0")}.${id}`;
      return { ...template, _id: id, account: accountId, change, external_id: `ats-${n}` };
    });
    await candidates.insertMany(copies);
  }
}

/** Reads one candidate as it is stored. */
export async function storedCandidate(bench: Bench, id: string): Promise<Document> {
  const candidates = bench.mongo.db().collection<Document & { _id: string }>("candidates");
  const stored = await candidates.findOne({ _id: id });
  if (stored === null) throw new Error(`Candidate ${id} is not stored.`);
  return stored;
}
