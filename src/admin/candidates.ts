import { type Command, Option } from "@commander-js/extra-typings";
import { nounOf, type Run, YES } from "./command.ts";
import { confirm } from "./dialogue.ts";
import { exportCandidates } from "./export.ts";
import { importCandidates } from "./import.ts";

const CONFLICT = "what to do if an external_id exists; the row is refused otherwise";

export function addCandidateCommands(admin: Command, run: Run): void {
  const candidates = nounOf(admin, "candidates", "Candidates");
  candidates("import", "Creates an account's candidates from a file.")
    .description(
      "Creates candidates as POST /candidates does, uncharged. After an interruption, run the same command again: it creates nothing twice. Refused rows go to FILE.refused.csv, each with its reason.",
    )
    .argument("<FILE>", "CSV in UTF-8 (.csv), or one JSON object in each line (.ndjson)")
    .requiredOption("--account <ACCOUNT_ID>", "account that gets the candidates")
    .addOption(new Option("--on-conflict <WHAT>", CONFLICT).choices(["update", "skip"]))
    .option("--dry-run", "change nothing, and say what would happen")
    .option("--no-outreach", "set outreach_enabled to false in every row")
    .action((file, options) => run((operations, context) => importCandidates(operations, context, file, options)));
  candidates("export", "Prints an account's candidates, for import.")
    .description(
      "Prints an account's candidates as import reads them. Without files and times. CSV has of a document only its name: take NDJSON to move an account.",
    )
    .requiredOption("--account <ACCOUNT_ID>", "account whose candidates to print")
    .addOption(new Option("--format <FORMAT>", "form of the output").choices(["csv", "ndjson"]).makeOptionMandatory())
    .action((options) => run((operations, context) => exportCandidates(operations, context, options)));
  candidates("erase", "Erases people for good, also in a restore.")
    .argument("<CANDIDATE_ID...>", "candidates to erase")
    .option(...YES)
    .action((ids, { yes }) =>
      run(async (operations, context) => {
        await confirm(operations, context, `Erase ${ids.join(", ")} for good?`, { yes, needsYes: true });
        return operations.erase(ids);
      }),
    );
}
