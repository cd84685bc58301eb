/**
 * Pushes a pipeline from a JSON file: creates what is new, changes what has changed, withdraws who is gone. Run it every
 * night: it compares the file with what the service has, and sends what is different.
 *
 *     npm install $BASE/docs/client/…tgz
 *     ONBOARDING_URL=https://… ONBOARDING_KEY=cos_live_… npx tsx push.ts
 */
import { readFileSync } from "node:fs";
import { type CandidateInput, OnboardingClient } from "@candidate-onboarding/client";

const { ONBOARDING_URL = "", ONBOARDING_KEY = "", PIPELINE_FILE = "pipeline.json" } = process.env;

/** The service writes to nobody. Set it to false on the day on which the service takes over from your system. */
const SILENT: boolean = true;

/** A row as the other system exports it. */
interface Row {
  readonly external_id: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly start_date: string;
  readonly documents: string;
  readonly referee_name: string;
  readonly referee_email: string;
}

/** Returns a row as the service takes it. The service tidies spaces, phones, dates and empty fields by itself. */
function candidate({ external_id, name, email, phone, start_date, ...row }: Row): CandidateInput {
  return {
    external_id,
    name,
    email,
    phone,
    start_date,
    withdrawn: false, // a person who was gone may come back
    ...(SILENT && { outreach_enabled: false }),
    documents: row.documents.split(";").filter((each) => each !== ""),
    references: row.referee_email === "" ? [] : [{ name: row.referee_name, email: row.referee_email }],
  };
}

// A push has time: it waits as long as a limit asks for.
const client = new OnboardingClient({ baseUrl: ONBOARDING_URL, apiKey: ONBOARDING_KEY, maxWait: Infinity });
const rows = JSON.parse(readFileSync(PIPELINE_FILE, "utf8")) as Row[];
const { created, updated, gone, failed, warnings } = await client.sync(rows.map(candidate), {
  key: "external_id",
  gone: "withdraw",
  unreadable: "metadata",
  onProgress: ({ done, total, failed }) => console.log(`${done} of ${total}, ${failed} refused`),
});
for (const { external_id, problem } of failed) console.log(external_id, problem.detail);
for (const { external_id, detail } of warnings) console.log(external_id, detail);
console.log(`${created} created, ${updated} changed, ${gone} withdrawn, ${failed.length} refused`);
