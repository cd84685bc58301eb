import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, open, PDF, post } from "./support.ts";

describe("The page of a candidate", () => {
  const service = useService({ MAX_DOCUMENT_BYTES: 1024 * 1024 });
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;
  let url: string;
  const read = async () => (await client.get(`/candidates/${candidate.id}`)).body;
  const formOf = (n: number) => `${url}/documents/${candidate.documents[n]?.id}`;

  beforeEach(async () => {
    const documents = [{ name: "Passport" }, { name: "<b>Diploma</b>", required: false }];
    candidate = (await client.post("/candidates", { name: "Ada", email: "ada@example.com", documents })).body;
    candidate = (await client.post(`/candidates/${candidate.id}/start`)).body;
    url = await linkTo(service, account, candidate.id, "candidate");
  });

  it("lists what is outstanding, with a form for each, and changes nothing", async () => {
    const { status, headers, text } = await open(url);
    expect(status).to.equal(200);
    expect(text.match(/<form /g)).to.have.length(2);
    expect(text).to.contain("Passport").and.to.contain("&lt;b&gt;Diploma&lt;/b&gt;").and.to.contain("if you have it");
    expect(headers.get("content-type")).to.equal("text/html; charset=utf-8");
    expect(headers.get("referrer-policy")).to.equal("no-referrer");
    expect(headers.get("cache-control")).to.equal("no-store");
    const style = createHash("sha256")
      .update(/<style>(.*)<\/style>/s.exec(text)?.[1] ?? "")
      .digest("base64");
    expect(headers.get("content-security-policy")).to.contain(`default-src 'none'; style-src 'sha256-${style}';`);
    expect(await read()).to.deep.equal(candidate);
  });

  it("takes a file, says so, and asks for the rest", async () => {
    const sent = await post(formOf(0), { content: PDF("pässport.pdf") });
    expect([sent.status, sent.headers.get("location")]).to.deep.equal([
      303,
      `${new URL(url).pathname}?arrived=${candidate.documents[0]?.id}`,
    ]);
    const { documents } = await read();
    expect(documents[0]).to.deep.include({ state: "received" });
    expect(documents[0]?.decided).to.deep.include({ by: { type: "candidate", id: candidate.id }, decided_by: null });
    expect(documents[0]?.content).to.include({ filename: "pässport.pdf", content_type: "application/pdf", size: 9 });
    const { text } = await open(new URL(sent.headers.get("location") ?? "", url).href);
    expect(text).to.contain("We have received “Passport” (pässport.pdf, 9\u00a0bytes). Thank you.");
    expect(text.match(/<form /g), "and lets it be replaced").to.have.length(2);
    expect(text.match(/<summary>Send another file instead/g)).to.have.length(1);
  });

  const NAMES: Record<string, string> = {
    "scan.PDF . ": "scan.PDF",
    "photo.HEIC": "photo.HEIC",
    "../../etc/passwd.pdf": "passwd.pdf",
    "evil.exe:x.pdf": "evil.exe-x.pdf",
    "papers.zip": "papers.zip.bin",
  };
  for (const [given, kept] of Object.entries(NAMES))
    it(`keeps ${JSON.stringify(given)} as ${kept}, so that whoever opens it starts no program`, async () => {
      expect((await post(formOf(0), { content: PDF(given) })).status).to.equal(303);
      const [document] = (await read()).documents;
      expect(document?.content?.filename).to.equal(kept);
      const download = await client.get(`/candidates/${candidate.id}/documents/${document?.id}/content`);
      expect(download.headers.get("content-disposition")).to.contain(`filename="${kept}"`);
    });

  it("keeps no media type by which a browser would give a name without an ending that of a program", async () => {
    const program = new File(["%PDF"], "setup", { type: "application/x-msdownload" });
    expect((await post(formOf(0), { content: program })).status).to.equal(303);
    expect((await read()).documents[0]?.content).to.include({
      filename: "setup",
      content_type: "application/octet-stream",
    });
  });

  it("charges nothing to the account", async () => {
    const before = await account.used();
    await open(url);
    await post(formOf(0), { content: PDF() });
    expect(await account.used()).to.deep.equal(before);
  });

  it("is thankful once everything has arrived", async () => {
    await post(formOf(0), { content: PDF() });
    await post(formOf(1), { content: PDF() });
    const { status, text } = await open(url);
    expect(status).to.equal(200);
    expect(text).to.contain("We have received everything. Thank you.").and.not.to.contain("These documents");
    expect((await read()).documents.map(({ state }) => state)).to.deep.equal(["received", "received"]);
  });

  const REFUSED: [string, Record<string, string | File>, number, string][] = [
    ["no file", { content: new File([], "") }, 422, "Choose a file first."],
    ["an empty file", { content: new File([], "empty.pdf") }, 422, "Choose a file first."],
    ["no part of that name", { other: "x" }, 422, "Choose a file first."],
    [
      "a file that is too large",
      { content: new File([new Uint8Array(1024 * 1024 + 1)], "x") },
      413,
      ">Passport: The file is too large. It may be up to 1\u00a0MB.</a>",
    ],
    ["a filename that is too long", { content: new File(["x"], "x".repeat(501)) }, 422, "name of the file is too long"],
  ];
  for (const [what, form, status, says] of REFUSED) {
    it(`says why it refuses ${what}, and stores nothing`, async () => {
      const response = await post(formOf(0), form);
      expect(response.status).to.equal(status);
      expect(response.text)
        .to.match(/role="alert"/)
        .and.to.contain(says)
        .and.to.contain('aria-invalid="true"')
        .and.to.contain("<title>Error: ");
      expect(await read()).to.deep.equal(candidate);
    });
  }

  it("refuses what is not its form, and a form that is cut off", async () => {
    const json = await open(formOf(0), { method: "POST", body: "{}", headers: { "Content-Type": "application/json" } });
    expect(json.status).to.equal(415);
    const headers = { "Content-Type": "multipart/form-data; boundary=x" };
    const cut = await open(formOf(0), {
      method: "POST",
      body: '--x\r\nContent-Disposition: form-data; name="content"; filename="a"\r\n\r\nhalf',
      headers,
    });
    expect(cut.status).to.equal(400);
    expect(cut.text).to.contain("What you sent did not arrive completely. Please send it again.");
    expect(await read()).to.deep.equal(candidate);
  });

  it("takes no file for a document that is not asked for, or that is another candidate's", async () => {
    await client.patch(`/candidates/${candidate.id}/documents/${candidate.documents[1]?.id}`, { state: "waived" });
    const other = (await client.post("/candidates", { documents: ["CV"] })).body;
    for (const id of [candidate.documents[1]?.id, other.documents[0]?.id, "doc_none"]) {
      const response = await post(`${url}/documents/${id}`, { content: PDF() });
      expect([response.status, response.text.includes("no longer needed")], id).to.deep.equal([409, true]);
    }
  });

  it("is closed once the candidate is withdrawn, and gone once it is erased", async () => {
    await client.patch(`/candidates/${candidate.id}`, { withdrawn: true });
    for (const response of [await open(url), await post(formOf(0), { content: PDF() })]) {
      expect(response.status).to.equal(410);
      expect(response.text).to.contain("nothing left to do");
    }
    await client.request("DELETE", `/candidates/${candidate.id}`);
    expect((await open(url)).status).to.equal(404);
    expect(await service.operators.mongo.db.collection("links").countDocuments({ candidate: candidate.id })).to.equal(
      0,
    );
  });

  /** Returns how many files the service has begun to store. */
  const begun = () =>
    service.operators.mongo.db.collection("content_pending").countDocuments({ candidate: candidate.id });

  /** Sends a file for the second document. `meanwhile` runs while the service stores it; the last bytes follow. */
  async function sendSlowly(meanwhile: () => Promise<unknown>): Promise<{ status: number; text: string }> {
    const fields = new FormData();
    fields.append("content", PDF("slow.pdf"));
    const form = new Response(fields);
    const bytes = new Uint8Array(await form.arrayBuffer());
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const before = await begun();
    const uploading = open(formOf(1), {
      method: "POST",
      headers: { "Content-Type": form.headers.get("content-type") ?? "" },
      body: readable,
      duplex: "half",
    });
    await writer.write(bytes.slice(0, -20));
    while ((await begun()) === before) await wait(5);
    await meanwhile();
    await writer.write(bytes.slice(-20));
    await writer.close();
    return uploading;
  }

  it("takes no file whose last bytes come after another one, or after the address was corrected", async () => {
    const late = await sendSlowly(() => post(formOf(1), { content: PDF("fast.pdf") }));
    expect([late.status, late.text.includes("no longer needed")]).to.deep.equal([409, true]);
    expect((await read()).documents[1]?.content).to.include({ filename: "fast.pdf" });
    const id = candidate.documents[1]?.id;
    await client.patch(`/candidates/${candidate.id}/documents/${id}`, { state: "rejected" });
    const wrong = await sendSlowly(() => client.patch(`/candidates/${candidate.id}`, { email: "b@example.com" }));
    expect(wrong.status).to.equal(409);
    expect((await read()).documents[1]).to.deep.include({ state: "rejected" });
  });

  it("is thankful once the candidate is completed, and takes nothing more", async () => {
    await client.patch(`/candidates/${candidate.id}/documents/${candidate.documents[0]?.id}`, { state: "waived" });
    expect((await read()).state).to.equal("completed");
    for (const response of [await open(url), await post(formOf(1), { content: PDF() })]) {
      expect(response.status).to.equal(200);
      expect(response.text).to.contain("We have received everything.").and.not.to.contain("<form");
    }
    expect((await read()).documents[1]).to.deep.include({ state: "requested" });
  });

  it("is closed to whoever got the link at an address that was wrong. They can stop only their own messages", async () => {
    await client.patch(`/candidates/${candidate.id}`, { email: "right@example.com" });
    for (const response of [await open(url), await post(formOf(0), { content: PDF() })]) {
      expect(response.status).to.equal(410);
      expect(response.text).not.to.contain("Passport");
    }
    expect((await post(`${url}/stop`)).status).to.equal(200);
    expect((await open(await linkTo(service, account, candidate.id, "candidate"))).text).to.contain("Passport");
    expect((await open(await linkTo(service, account, candidate.id, "candidate"))).text).to.contain("Passport");
  });

  it("comes again if its form is opened as a page, as a browser does that reloads it", async () => {
    const { status, headers } = await open(formOf(0));
    expect([status, headers.get("location")]).to.deep.equal([303, new URL(url).pathname]);
  });

  it("speaks the language of the settings if its link is of an earlier release, and that of the browser if the link is wrong", async () => {
    await client.patch("/settings/assistant", {
      language: "de-CH",
      display_name: "Acme & Söhne",
      instructions: "Bitte <scannen>.",
    });
    const { text } = await open(url);
    expect(text).to.contain('<html lang="de">').and.to.contain("Unterlagen für Acme &amp; Söhne");
    expect(text).to.contain("Bitte &lt;scannen&gt;.");
    for (const [language, lang] of [
      ["nl-BE,fr;q=0.5", "nl"],
      ["ja", "en"],
    ]) {
      const wrong = await open(`${service.url}/u/${"x".repeat(43)}`, {
        headers: { "Accept-Language": language ?? "" },
      });
      expect([wrong.status, wrong.text.includes(`<html lang="${lang}">`)]).to.deep.equal([404, true]);
    }
  });

  it("opens no other kind of page: its token is of no use elsewhere", async () => {
    expect((await open(url.replace("/u/", "/r/"))).status).to.equal(404);
  });
});
