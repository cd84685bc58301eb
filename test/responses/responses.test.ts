import { expectSnapshot, type Shown } from "../support/snapshot.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { Conversation, type Step } from "./exchange.ts";
import { CANDIDATE_STEPS } from "./candidate-steps.ts";
import { DOCUMENT_STEPS } from "./document-steps.ts";
import { OTHER_STEPS } from "./other-steps.ts";
import { PROBLEM_STEPS } from "./problem-steps.ts";
import { REFERENCE_STEPS } from "./reference-steps.ts";

const CONVERSATIONS: Readonly<Record<string, readonly Step[]>> = {
  candidates: CANDIDATE_STEPS,
  documents: DOCUMENT_STEPS,
  references: REFERENCE_STEPS,
  others: OTHER_STEPS,
  problems: PROBLEM_STEPS,
};

/**
 * The snapshots were reviewed: what clients read in them is meant to be so. If your change of the service changes a response,
 * write a new snapshot with `UPDATE_SNAPSHOT=1 npm test -- test/responses`, and read the difference before you commit it.
 */
describe("what clients read", () => {
  const service = useService({ LIMIT_SCALE: 1_000, MAX_DOCUMENT_BYTES: 2_000 });
  const account = useAccount(service);

  for (const [name, steps] of Object.entries(CONVERSATIONS))
    it(`equals the snapshot that was reviewed: ${name}`, async () => {
      const conversation = new Conversation(service.url, account.key);
      const shown: Shown[] = [];
      for (const step of steps) shown.push(await conversation.send(step));
      expectSnapshot(new URL(`${name}.snapshot.json`, import.meta.url), shown);
    });
});
