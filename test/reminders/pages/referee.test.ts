import { expect } from "chai";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { answerQuestions, linkTo, open, PDF, post } from "./support.ts";

describe("The pages of a referee", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;
  let url: string;
  const read = async () => (await client.get(`/candidates/${candidate.id}`)).body;
  const reference = async () => (await read()).references[0];

  beforeEach(async () => {
    const references = [{ name: "Grace", email: "grace@example.com" }];
    candidate = (await client.post("/candidates", { name: "Ada <Lovelace>", references })).body;
    candidate = (await client.post(`/candidates/${candidate.id}/start`)).body;
    url = await linkTo(service, account, candidate.id, candidate.references[0]?.id ?? "");
  });

  it("first ask whether they can, and change nothing", async () => {
    const { status, text } = await open(url);
    expect(status).to.equal(200);
    expect(text).to.contain("A reference for Ada &lt;Lovelace&gt;").and.to.contain("Can you give this reference?");
    const questions = await open(`${url}/questions`);
    expect(questions.text.match(/<textarea /g)).to.have.length(5);
    expect(questions.text.match(/<label for="answer-\d"/g)).to.have.length(5);
    expect(await read()).to.deep.equal(candidate);
  });

  it("take the answers to the account's own questions", async () => {
    const reference_questions = ["How long did you work together?", "Would you hire <them> again?"];
    await client.patch("/settings/assistant", { reference_questions });
    expect((await open(`${url}/questions`)).text).to.contain("Would you hire &lt;them&gt; again?");
    const sent = await answerQuestions(url, { 0: " Two years.\r\nIn Paris. ", 1: "Yes!" });
    expect([sent.status, sent.headers.get("location")]).to.deep.equal([303, new URL(url).pathname]);
    expect(await reference()).to.deep.include({
      state: "received",
      response: {
        answers: [
          { question: reference_questions[0], answer: "Two years.\nIn Paris." },
          { question: reference_questions[1], answer: "Yes!" },
        ],
      },
    });
    expect((await read()).state).to.equal("completed");
    const { text } = await open(url);
    expect(text).to.contain("We have received your answers.");
    expect(text, "who asked, and why").to.match(/<footer>[^]*on behalf of Test[^]*named you as a reference/);
    const again = await post(`${url}/questions`, { "answer-0": "No." });
    expect([again.status, (await read()).version]).to.deep.equal([200, candidate.version + 1]);
  });

  it("leave out questions that were not answered", async () => {
    await answerQuestions(url, { 0: "", 3: "Patience" });
    expect((await reference())?.response).to.deep.equal({
      answers: [{ question: "What could this person still improve?", answer: "Patience" }],
    });
  });

  it("say what is wrong with the answers, and keep what was written", async () => {
    const none = await answerQuestions(url, { 0: "  " });
    expect([none.status, none.text.includes("Answer at least one question.")]).to.deep.equal([422, true]);
    const long = await answerQuestions(url, { 0: "👩".repeat(1_601), 1: "</textarea><b>", 2: "x".repeat(3_000) });
    expect(long.status).to.equal(422);
    expect(long.text).to.contain("At least one answer is too long.").and.to.contain("&lt;/textarea&gt;&lt;b&gt;");
    expect(long.text)
      .to.match(/id="excess-0">Characters over the limit: 1</)
      .and.to.contain("👩".repeat(1_601));
    expect(long.text).to.match(/id="excess-2">Characters over the limit: 1,400</);
    expect(long.text.match(/aria-describedby="limit-\d excess-\d" aria-invalid="true"/g)).to.have.length(2);
    expect((await post(`${url}/questions`, { content: PDF() })).status, "a file").to.equal(422);
    expect(await read()).to.deep.equal(candidate);
  });

  it("ask to look again if the account has changed its questions meanwhile, and put no answer to another one", async () => {
    const { text } = await open(`${url}/questions`);
    const fields = [...text.matchAll(/<textarea [^>]*name="([^"]+)"/g)].map(([, name]) => name ?? "");
    const kept = "What could this person still improve?";
    await client.patch("/settings/assistant", { reference_questions: ["Would you hire them again?", kept] });
    const answers = { [fields[1]!]: "Never late", [fields[3]!]: "Patience" };
    const refused = await post(`${url}/questions`, answers);
    expect([refused.status, refused.text.includes("The questions have changed.")]).to.deep.equal([409, true]);
    expect(refused.text).to.contain(">Patience</textarea>");
    expect(refused.text, "what nobody asks any more can be copied").to.match(/<textarea [^>]*readonly>Never late</);
    await post(`${url}/questions`, { [fields[1]!]: " ", [fields[3]!]: "Patience" });
    expect((await reference())?.response).to.deep.equal({ answers: [{ question: kept, answer: "Patience" }] });
  });

  it("let a referee decline, after asking once more", async () => {
    expect((await open(url)).text).to.contain(`href="${new URL(url).pathname}/decline"`);
    const sure = await open(`${url}/decline`);
    expect(sure.text).to.contain("Do you want to tell Test that you cannot give this reference?");
    expect(await read()).to.deep.equal(candidate);
    expect((await post(`${url}/decline`)).status).to.equal(303);
    expect(await reference()).to.deep.include({ state: "declined", response: null });
    const by = { type: "referee", id: candidate.references[0]?.id };
    expect((await reference())?.decided).to.deep.include({ state: "declined", by, decided_by: null });
    expect((await open(url)).text).to.contain("You told us that you cannot give this reference.");
    const late = await post(`${url}/questions`, { "answer-0": "Too late" });
    expect(late.text).to.match(/<textarea [^>]*readonly>Too late</);
    expect(await reference()).to.deep.include({ state: "declined" });
  });

  it("let a referee take the no back, unless somebody has changed the reference since", async () => {
    await post(`${url}/decline`);
    expect((await open(`${url}/take-back`)).status, "a GET").to.equal(303);
    expect(await reference()).to.deep.include({ state: "declined" });
    expect((await open(url)).text).to.contain("I can give this reference after all");
    const back = await post(`${url}/take-back`);
    expect([back.status, back.headers.get("location")]).to.deep.equal([303, `${new URL(url).pathname}/questions`]);
    const { requested_at } = candidate.references[0] ?? {};
    expect(await reference(), "asked when it was asked").to.deep.include({ state: "requested", requested_at });
    await post(`${url}/decline`);
    await client.patch(`/references/${candidate.references[0]?.id}`, { state: "requested" });
    await client.patch(`/references/${candidate.references[0]?.id}`, { state: "declined" });
    expect((await open(url)).text).not.to.contain("after all");
    await post(`${url}/take-back`);
    expect(await reference(), "declined by the client").to.deep.include({ state: "declined" });
  });

  it("show what was typed if the reference is no longer needed", async () => {
    await client.patch(`/references/${candidate.references[0]?.id}`, { state: "waived" });
    const closed = await post(`${url}/questions`, { "answer-0": "Two <years>" });
    expect([closed.status, closed.text.includes("This text was not sent.")]).to.deep.equal([410, true]);
    expect(closed.text).to.contain("Two &lt;years&gt;</textarea>");
    const unknown = await post(`${service.url}/r/${"x".repeat(43)}/questions`, { "answer-0": "Two years" });
    expect([unknown.status, unknown.text.includes("Two years")], "a guess").to.deep.equal([404, false]);
  });

  it("store a character that stands for one that could not be read: it came with what was pasted", async () => {
    expect((await answerQuestions(url, { 0: "na\uFFFDve" })).status).to.equal(303);
    expect(JSON.stringify((await reference())?.response)).to.contain("na\uFFFDve");
  });

  it("store whatever the form allows", async () => {
    const reference_questions = Array.from({ length: 20 }, (_, n) => `${n} ${"\u4e00".repeat(297)}`);
    await client.patch("/settings/assistant", { reference_questions });
    const { text } = await open(`${url}/questions`);
    const limit = Number(/Up to (\d+) characters/.exec(text)?.[1]);
    expect(limit).to.be.at.least(100);
    const all = Object.fromEntries(reference_questions.map((_, n) => [n, "👩".repeat(limit)]));
    expect((await answerQuestions(url, all)).status).to.equal(303);
    expect((await reference())?.response).to.deep.equal({
      answers: reference_questions.map((question) => ({ question, answer: "👩".repeat(limit) })),
    });
  });

  it("stay open after a bounce and after the last reminder, and close with what the client decides", async () => {
    const path = `/references/${candidate.references[0]?.id}`;
    for (const [state, status] of [
      ["bounced", 200],
      ["unresponsive", 200],
      ["waived", 410],
      ["cancelled", 410],
    ] as const) {
      await client.patch(path, { state });
      expect((await open(url)).status, state).to.equal(status);
    }
    expect((await post(`${url}/questions`, { "answer-0": "x" })).status).to.equal(410);
    await client.request("DELETE", path);
    expect((await open(url)).status).to.equal(404);
  });

  it("stop messages with a POST", async () => {
    expect((await open(`${url}/stop`)).text).to.contain("<form");
    expect((await post(`${url}/stop`)).text).to.contain("Test will send no more messages to this");
    expect((await reference())?.state).to.equal("requested");
    await answerQuestions(url, { 0: "Yes" });
    expect((await reference())?.state, "answers still arrive").to.equal("received");
    expect((await open(`${url}/stop`)).text, "once everything is done").to.contain("The messages are stopped");
  });
});
