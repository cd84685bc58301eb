import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { download, packOf } from "../pack/support.ts";
import { type Answer, Client, expectProblem } from "../support/client.ts";
import { useBothVersions } from "./both.ts";
import { known } from "./known.ts";
import { PlainClient } from "./plain-client.ts";

/** What a client sees of an answer: its status, its body, and the headers that do not change from request to request. */
function seen({ status, headers, body }: Answer): unknown {
  const [etag, location, type] = ["etag", "location", "content-type"].map((name) => headers.get(name));
  return { status, body: known(body), etag, location, type };
}

const FULL = {
  external_id: "A-1",
  name: "Ada Lovelace",
  email: "ada@example.com",
  job_title: "Analyst",
  start_date: "2027-01-04",
  metadata: { "team.lead": "Charles", $cost: "12" },
  docs_chase_attempts: 7,
  references_required: 1,
  documents: ["Passport", "CV", { name: "Degree", metadata: { place: "London" } }],
  references: [{ name: "Charles", email: "charles@example.com" }],
};

describe("two versions side by side on one Redis and one MongoDB", function () {
  this.timeout(60_000);
  const { running, account } = useBothVersions();

  it("show none of a deleted candidate: the earlier one answers with an empty candidate", async () => {
    const [earlier, later] = [running.earlier, running.later].map(({ url }) => new PlainClient(url, account.key));
    const path = `/candidates/${(await earlier!.post("/candidates", FULL)).body.id}`;
    expect((await later!.request("DELETE", path)).status).to.equal(204);
    expectProblem(await later!.get(path), 410, "candidate_deleted");
    const shown = await earlier!.get(path);
    expect(shown.status).to.equal(200);
    expect(JSON.stringify([shown.body, (await earlier!.get("/candidates")).body])).not.to.match(
      /A-1|Ada|Analyst|Charles|charles|London|Passport/,
    );
  });

  it("keep reminders turned off when the earlier one writes, and agree on the ETag", async () => {
    const [earlier, later] = [running.earlier, running.later].map(({ url }) => new PlainClient(url, account.key));
    const { body } = await later!.post("/candidates", { ...FULL, outreach_enabled: false });
    const path = `/candidates/${body.id}`;
    expect((await earlier!.patch(path, { name: "Ada" })).status).to.equal(200);
    const shown = await later!.get(path);
    expect(shown.body).to.include({ name: "Ada", version: 2, outreach_enabled: false });
    expect(seen(await earlier!.get(path))).to.deep.equal(seen(shown));
  });

  for (const [writer, reader] of [
    ["earlier", "later"],
    ["later", "earlier"],
  ] as const) {
    describe(`of which the ${writer} one writes and the ${reader} one reads`, () => {
      let first: Client;
      let second: Client;
      beforeEach(() => {
        const clientOf = (version: "earlier" | "later") => new PlainClient(running[version].url, account.key);
        [first, second] = [clientOf(writer), clientOf(reader)];
      });

      it("show the same candidates, documents, packs and settings, down to the ETag", async () => {
        const { body: created } = await first.post("/candidates", FULL);
        const path = `/candidates/${created.id}`;
        const [passport, cv] = created.documents;
        const bytes = Buffer.alloc(600_000, "0123456789"); // three chunks of GridFS
        const upload = { headers: { "Content-Type": "application/pdf" }, body: bytes };
        const changes = [
          await first.request("PUT", `${path}/documents/${passport!.id}/content`, upload),
          await first.request("PUT", `${path}/documents/${cv!.id}/content`, upload),
          await first.post(`${path}/start`),
          await first.patch(`${path}/documents/${passport!.id}`, { state: "accepted", expires_on: "2030-01-01" }),
          await first.patch(`/references/${created.references[0]!.id}`, {
            state: "received",
            response: { fit: "yes" },
          }),
          await first.patch("/settings/assistant", { language: "de", instructions: "Be kind." }),
          await first.patch("/settings/quiet-hours", { enabled: true }),
        ];
        expect(changes.map(({ status }) => status)).to.deep.equal(changes.map(() => 200));

        const paths = [path, "/candidates", "/settings/assistant", "/settings/quiet-hours"];
        for (const each of [...paths, "/candidates?external_id=A-1", "/candidates?state=in_progress"]) {
          const written = await first.get(each);
          expect(written.status, each).to.equal(200);
          const read = await second.get(each);
          if (each.startsWith("/candidates?") || each === "/candidates")
            expect(read.body.data.map(known)).to.deep.equal(written.body.data.map(known));
          else expect(seen(read), each).to.deep.equal(seen(written));
        }
        for (const each of [first, second]) {
          const [row] = (await each.get("/candidates?external_id=A-1")).body.data;
          expect(row, "the list shows what GET shows").to.deep.equal((await each.get(path)).body);
        }
        const content = `${path}/documents/${passport!.id}/content`;
        const whole = await download(second, content);
        expect(Buffer.from(whole.bytes).equals(bytes)).to.equal(true);
        expect(whole.headers.get("etag")).to.equal((await download(first, content)).headers.get("etag"));
        const part = await download(second, content, { Range: "bytes=261119-261121" });
        expect(Buffer.from(part.bytes).toString()).to.equal("901");
        const [{ generated_at: _1, ...one }, { generated_at: _2, ...other }] = await Promise.all([
          packOf(first, created.id),
          packOf(second, created.id),
        ]);
        expect(known(other)).to.deep.equal(known(one));
      });

      it("accept each other's ETags", async () => {
        const { body, headers } = await first.post("/candidates", FULL);
        const path = `/candidates/${body.id}`;
        const tag = headers.get("etag") ?? "";
        expect((await second.get(path, { "If-None-Match": tag })).status).to.equal(304);
        const changed = await second.request("PATCH", path, { json: { name: "Ada" }, headers: { "If-Match": tag } });
        expect(changed.status).to.equal(200);
        const late = await first.request("PATCH", path, { json: { name: "Eve" }, headers: { "If-Match": tag } });
        expectProblem(late, 412, "version_mismatch");
      });

      it("continue each other's cursors", async () => {
        const rows: string[] = [];
        for (let n = 0; n < 6; n++) rows.push((await first.post("/candidates", { name: `${n}` })).body.id);
        const page = await first.get("/candidates?limit=2");
        const next = await second.get(`/candidates?limit=2&cursor=${page.body.cursor}`);
        const last = await first.get(`/candidates?limit=2&cursor=${next.body.cursor}`);
        const ids = [page, next, last].flatMap(({ body }) => body.data.map(({ id }) => id));
        expect(ids).to.deep.equal(rows);
        const { body: later } = await first.post("/candidates");
        const more = await second.get(`/candidates?cursor=${last.body.cursor}`);
        expect(more.body.data.map(({ id }) => id)).to.include(later.id);
      });

      it("replay each other's answers", async () => {
        const { body: candidate } = await first.post("/candidates", FULL);
        const form = () => {
          const parts = new FormData();
          parts.set("name", "CV");
          parts.set("content", new Blob(["the bytes"], { type: "text/plain" }), "cv.txt");
          return new Response(parts);
        };
        const boundary = form();
        const upload = { body: new Uint8Array(await boundary.clone().arrayBuffer()), headers: boundary.headers };
        const requests: [string, string, object][] = [
          ["a create", "/candidates", { json: { name: "Once", documents: ["CV"], references: [{ name: "Ann" }] } }],
          ["a start", `/candidates/${candidate.id}/start`, { json: {} }],
          ["a reference", `/candidates/${candidate.id}/references`, { json: { name: "Bob" } }],
          ["an upload", `/candidates/${candidate.id}/documents`, upload],
        ];
        for (const [what, path, given] of requests) {
          const key = randomUUID();
          const send = (client: Client, { headers, ...options }: { headers?: Headers }) =>
            client.request("POST", path, {
              ...options,
              headers: { ...Object.fromEntries(headers ?? []), "Idempotency-Key": key },
            });
          const done = await send(first, given);
          let again = await send(second, given);
          // The answer may not be stored yet. To 0.1.0 the request is in flight until then.
          for (; again.body.code === "idempotency_in_flight"; again = await send(second, given))
            await setTimeout(Number(again.headers.get("retry-after")) * 1_000);
          expect(again.headers.get("idempotent-replayed"), what).to.equal("true");
          const { request_id: _first, ...expected } = done.body;
          const { request_id: _second, ...replayed } = again.body;
          expect(seen({ ...again, body: replayed as Answer["body"] }), what).to.deep.equal(
            seen({ ...done, body: expected as Answer["body"] }),
          );
          expect(done.status, what).to.equal(what === "a start" ? 200 : 201);
          const other = await second.request("POST", "/candidates", {
            json: { name: "Another" },
            headers: { "Idempotency-Key": key },
          });
          expect(other.body.code, what).to.equal("idempotency_key_reused");
        }
      });

      it("replay a refusal only if the earlier version has stored it", async () => {
        await first.post("/candidates", FULL);
        const key = { "Idempotency-Key": randomUUID() };
        expectProblem(await first.post("/candidates", { external_id: "A-1" }, key), 409, "external_id_taken");
        const again = await second.post("/candidates", { external_id: "A-1" }, key);
        expectProblem(again, 409, "external_id_taken");
        expect(again.headers.get("idempotent-replayed")).to.equal(writer === "earlier" ? "true" : null);
      });
    });
  }
});
