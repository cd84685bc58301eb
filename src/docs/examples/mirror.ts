/**
 * Mirrors a pipeline into a SQLite file: one table, one row for each candidate. Run it as often as you like, for example
 * every five minutes: it continues where it ended.
 *
 *     npm install libsql, and the client as /docs/client says
 *     ONBOARDING_URL=https://… ONBOARDING_KEY=cos_live_… npx tsx mirror.ts
 */
import { type MirrorPage, OnboardingClient } from "@candidate-onboarding/client";
import Database from "libsql";

const { ONBOARDING_URL = "", ONBOARDING_KEY = "", MIRROR_FILE = "mirror.db" } = process.env;

// A mirror has time: it waits as long as a limit asks for.
const client = new OnboardingClient({ baseUrl: ONBOARDING_URL, apiKey: ONBOARDING_KEY, maxWait: Infinity });

const db = new Database(MIRROR_FILE);
db.exec(`
  create table if not exists candidates (
    id text primary key, external_id text, name text, state text, updated_at text not null, row text not null
  );
  create table if not exists progress (one integer primary key check (one = 1), cursor text not null);
`);
const remove = db.prepare("delete from candidates where id = ?");
const replace = db.prepare("replace into candidates values (?, ?, ?, ?, ?, ?)");
const advance = db.prepare("replace into progress values (1, ?)");

// The rows and the cursor are stored together. So a crash at any moment loses nothing.
const store = db.transaction(({ rows, cursor }: MirrorPage) => {
  for (const row of rows) {
    const { id, updated_at } = row;
    if (row.deleted) remove.run(id);
    else replace.run(id, row.external_id, row.name, row.state, updated_at, JSON.stringify(row));
  }
  advance.run(cursor);
});

const [progress] = db.prepare("select cursor from progress").all() as { cursor: string }[];
let changes = 0;
for await (const page of client.mirror({ cursor: progress?.cursor }).pages()) {
  store(page);
  changes += page.rows.length;
}
console.log(`${changes} changes`);
db.close();
