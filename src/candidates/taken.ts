import { problem } from "../problems.ts";
import type { CandidateReader } from "./reader.ts";
import type { Draft } from "./record.ts";

/**
 * One round trip with an external_id, else none.
 * @throws problem external_id_taken if another candidate has the external_id.
 */
export async function refuseTaken(
  reader: CandidateReader,
  { accountId, id, external_id }: Pick<Draft, "accountId" | "id" | "external_id">,
): Promise<void> {
  if (external_id === null) return;
  const holder = await reader.holderOf(accountId, external_id);
  if (holder === undefined || holder === id) return;
  const detail = `Candidate ${holder} already has this external_id. Send another one, or change that candidate.`;
  const errors = [{ pointer: "/external_id", detail: "must be unique in the account" }];
  throw problem("external_id_taken", detail, { members: { candidate_id: holder }, errors });
}
