import { expect } from "chai";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { answerQuestions, linkTo, open, PDF, post } from "./support.ts";

const HOUR = 3_600_000;
const ago = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString();

describe("The life of a link", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;

  beforeEach(async () => {
    const given = {
      name: "Ada",
      email: "ada@example.com",
      documents: ["CV"],
      references: [{ email: "g@example.com" }],
    };
    candidate = (await client.post("/candidates", given)).body;
    candidate = (await client.post(`/candidates/${candidate.id}/start`)).body;
    await client.patch("/settings/assistant", { language: "en", reference_questions: null, reply_to: null });
  });
  const link = (to: string, more: Parameters<typeof linkTo>[4]) => linkTo(service, account, candidate.id, to, more);
  const referee = (more: Parameters<typeof linkTo>[4]) => link(candidate.references[0]?.id ?? "", more);

  it("has the language and the questions of its message, whatever the settings say later", async () => {
    const url = await referee({ language: "de", questions: ["Wie lange kennen Sie sich?"] });
    const usual = await referee({ language: "fr", questions: null });
    await client.patch("/settings/assistant", { language: "es", reference_questions: ["¿Y ahora?"] });
    const { text } = await open(`${url}/questions`);
    expect(text)
      .to.contain('<html lang="de">')
      .and.to.contain("Wie lange kennen Sie sich?")
      .and.not.to.contain("ahora");
    expect((await open(`${usual}/questions`)).text)
      .to.contain("depuis quand")
      .and.not.to.contain("ahora");
    expect((await open(`${url}/stop`)).text).to.contain('<html lang="de">');
    await answerQuestions(url, { 0: "Lange" });
    expect((await client.get(`/candidates/${candidate.id}`)).body.references[0]?.response).to.deep.equal({
      answers: [{ question: "Wie lange kennen Sie sich?", answer: "Lange" }],
    });
  });

  it("says who writes, why, and how long it works", async () => {
    const more = { language: "nl", questions: null, expires_at: "2099-05-28T23:59:59.999Z" };
    const { text } = await open(await link("candidate", more));
    expect(text).to.contain("We schrijven u namens Test. Er zijn documenten van u nodig.");
    expect(text).to.contain("Deze link werkt tot en met 28 mei 2099.");
    expect((await open(await referee(more))).text).to.contain(
      "We schrijven u namens Test. Ada heeft u als referentie opgegeven.",
    );
  });

  it("ends with a page in its language that says whom to write to", async () => {
    await client.patch("/settings/assistant", { reply_to: "help@example.com" });
    const url = await link("candidate", { language: "de", questions: null, expires_at: ago(1) });
    const { status, text } = await open(url);
    expect([status, text.includes("Dieser Link ist abgelaufen")]).to.deep.equal([410, true]);
    expect(text).to.contain("Test (help@example.com)").and.not.to.contain("<form");
    expect((await post(`${url}/stop`)).text, "the messages can still be stopped").to.contain("abbestellt");
  });

  it("takes a form that was open for a day longer, and shows what was typed after that", async () => {
    const url = await link("candidate", { language: "en", questions: null, expires_at: ago(23) });
    expect((await open(url)).status).to.equal(410);
    expect((await post(`${url}/documents/${candidate.documents[0]?.id}`, { content: PDF() })).status).to.equal(303);
    const late = await referee({ language: "en", questions: null, expires_at: ago(25) });
    const refused = await post(`${late}/questions`, { "answer-0": "Two years" });
    expect([refused.status, refused.text.includes("This link has expired")]).to.deep.equal([410, true]);
    expect(refused.text).to.match(/<textarea [^>]*readonly>Two years</);
    expect((await client.get(`/candidates/${candidate.id}`)).body.references[0]?.state).to.equal("requested");
  });
});
