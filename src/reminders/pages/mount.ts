import type Router from "@koa/router";
import type { Context } from "koa";
import type { ApiState } from "../../api/admit.ts";
import type { MountOptions } from "../../api/mount.ts";
import { MAX_RESPONSE_BYTES } from "../../candidates/references.ts";
import type { DocumentService } from "../../documents/service.ts";
import { negotiate } from "../../http/negotiate.ts";
import type { UploadRules } from "../../http/upload.ts";
import { html } from "../../schema/html.ts";
import { Problem, RESTORING } from "../../problems.ts";
import type { Words } from "../languages/en.ts";
import { LANGUAGES, wordsOf } from "../languages/language.ts";
import { candidatePage } from "./candidate-page.ts";
import { noticeOf, type Page, pageOf, POLICY } from "./page.ts";
import { receiveFields, receiveFile, refusalOf } from "./receive.ts";
import { fieldOf, MAX_ANSWER, questionsPage, refereePage } from "./referee-page.ts";
import { isOpen, type Kind, type Shown, type Stop, type Visit, type Visits } from "./visits.ts";

export interface PagesOptions extends Pick<MountOptions, "restore"> {
  visits: Visits;
  documents: DocumentService;
  maxFileBytes: number;
  bodyTimeoutMs: number;
}

type Ctx = Context & { state: ApiState; params: Record<string, string> };
/** Makes the page, or the path to go to after a POST has changed something. */
type Show<Opened> = (opened: Opened, ctx: Ctx) => Promise<Page | string> | Page | string;

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": POLICY,
  // The path holds the token.
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
};

const FIRST_PAGE = { candidate: "/u/:token", referee: "/r/:token" } as const;
/** Below it: the paths whose POST reads a form, and so holds memory while it arrives. */
const UPLOAD = "/documents/:document";
const QUESTIONS = "/questions";

/**
 * Adds the pages that links in reminders lead to. They need no key and charge no limit. A GET changes nothing, because
 * mail scanners follow links; a POST does.
 */
export function mountPages(router: Router<ApiState>, options: PagesOptions): void {
  const { visits, documents, maxFileBytes, bodyTimeoutMs, restore } = options;
  const rules: UploadRules = { maxFileBytes, timeoutMs: bodyTimeoutMs };
  const megabytes = Math.floor((maxFileBytes / 1024 ** 2) * 10) / 10;
  const maxMegabytesIn = ({ language }: Words) => new Intl.NumberFormat(language).format(megabytes);

  /** Adds one page. `open` opens its link. */
  function addPage<Opened extends Shown>(
    method: "get" | "post",
    kind: Kind,
    rest: string,
    open: (token: string, ctx: Ctx) => Promise<Opened>,
    show: Show<Opened>,
  ): void {
    const route = FIRST_PAGE[kind] + rest;
    router[method](route, async (context) => {
      const ctx = context as Ctx;
      ctx.state.endpointName = `${kind}Page`;
      ctx.state.route = route;
      ctx.set(HEADERS);
      let words = wordsFor(ctx.req.headers["accept-language"]);
      const token = ctx.params["token"] ?? "";
      const respond = async () => {
        const opened = await open(token, ctx);
        words = opened.words;
        return show(opened, ctx);
      };
      const isForm = method === "post" && (rest === UPLOAD || rest === QUESTIONS);
      try {
        if (restore.signal.aborted) throw new Problem(RESTORING);
        send(ctx, await (isForm ? visits.receiving(token, respond) : respond()));
      } catch (error) {
        send(ctx, failureOf(ctx, words, error));
      }
    });
  }
  const parameter = ({ query }: Ctx, name: string) => String(query[name] ?? "");
  const opening = (kind: Kind) => (token: string, ctx: Ctx) =>
    visits.open(token, { kind, arrived: parameter(ctx, "arrived") }, ctx.ip);
  /** Adds a page whose visitor still has something to do. */
  const add = (method: "get" | "post", kind: Kind, rest: string, show: Show<Visit>) =>
    addPage(method, kind, rest, opening(kind), (visit, ctx) => (isOpen(visit) ? show(visit, ctx) : closed(visit)));

  add("get", "candidate", "", (visit) => {
    const { candidate, words } = visit;
    const sent = candidate.arrived.find(({ state }) => state === "received");
    const news = sent && { documentId: sent.id, text: words.pages.documents.arrived(sent.name), refused: false };
    return candidatePage(200, visit, maxMegabytesIn(words), news);
  });
  add("post", "candidate", UPLOAD, async (visit, ctx) => {
    const documentId = ctx.params["document"] ?? "";
    try {
      await receiveFile(ctx.req, visit, documentId, documents, rules);
    } catch (error) {
      const maxMegabytes = maxMegabytesIn(visit.words);
      const refused = refusalOf(error, visit.words, maxMegabytes);
      if (refused === undefined) throw error;
      if (refused.status >= 500) ctx.state.failure = error;
      return candidatePage(refused.status, visit, maxMegabytes, { documentId, text: refused.text, refused: true });
    }
    return `${visit.path}?arrived=${documentId}`;
  });

  add("get", "referee", "", (visit) => refereePage(visit));
  add("get", "referee", QUESTIONS, (visit) => questionsPage(200, visit));
  add("post", "referee", QUESTIONS, async (visit, ctx) => {
    const texts = visit.words.pages.reference;
    const fields = await receiveFields(ctx.req, rules);
    const all = visit.questions.map((question) => ({ question, answer: textIn(fields[fieldOf(question)]) }));
    const refused = (status: number, text: string) =>
      questionsPage(status, visit, { answers: all.map(({ answer }) => answer), refused: text });
    const known = new Set(visit.questions.map(fieldOf));
    if (Object.keys(fields).some((name) => !known.has(name) && textIn(fields[name]) !== ""))
      return refused(409, texts.changed);
    const response = { answers: all.filter(({ answer }) => answer !== "") };
    if (response.answers.length === 0) return refused(422, texts.empty);
    const bytes = Buffer.byteLength(JSON.stringify(response));
    const excess = Math.max(bytes - MAX_RESPONSE_BYTES, ...all.map(({ answer }) => answer.length - MAX_ANSWER));
    if (excess > 0) return refused(422, texts.tooLong(excess));
    await visits.settle(visit, { state: "received", response });
    return visit.path;
  });
  add("post", "referee", "/decline", async (visit) => {
    await visits.settle(visit, { state: "declined" });
    return visit.path;
  });

  // If the response to a form is a page, a browser that reloads it requests the form's path.
  addPage("get", "candidate", UPLOAD, opening("candidate"), ({ path }) => path);
  addPage("get", "referee", "/decline", opening("referee"), ({ path }) => path);

  for (const kind of ["candidate", "referee"] as const) {
    const open = (token: string, ctx: Ctx) => visits.openStop(token, { kind, of: parameter(ctx, "of") }, ctx.ip);
    addPage("get", kind, "/stop", open, (stop, { path, search }) =>
      stop.stopped ? stoppedPage(stop) : stopPage(stop, `${path}${search}`),
    );
    // A mail client sends this by itself if its user asks it to (RFC 8058). Its body says nothing that is needed.
    addPage("post", kind, "/stop", open, async (stop) => {
      await visits.stop(stop);
      return stoppedPage(stop);
    });
  }
}

/** Returns the words of a page whose account is not known, in the language that the browser asks for. */
function wordsFor(header: string | undefined): Words {
  const tags = LANGUAGES.map(({ language }) => language);
  const [best = "en"] = negotiate("accept-language", header, tags);
  return wordsOf(best);
}

function send(ctx: Ctx, page: Page | string): void {
  if (typeof page === "string") {
    ctx.status = 303;
    ctx.set("Location", page);
    ctx.body = "";
    return;
  }
  ctx.status = page.status;
  ctx.body = page.body;
}

/** Returns the page of a link that its visitor no longer needs. */
function closed({ candidate, reference, words }: Visit): Page {
  const { pages } = words;
  const thanks = (text: string) => noticeOf(200, words, { title: pages.thanks, text });
  if (reference?.state === "received") return thanks(pages.reference.received);
  if (reference?.state === "declined") return thanks(pages.reference.declined);
  if (reference === undefined && candidate.state === "completed") return thanks(pages.documents.all);
  return noticeOf(410, words, pages.closed);
}

function stopPage({ words, sender, opens }: Stop, action: string): Page {
  const { title, ask, links, button } = words.pages.stop;
  const body = html`<p>${ask(sender)}${opens && ` ${links}`}</p>
    <form method="post" action="${action}"><button>${button}</button></form>`;
  return pageOf(200, words, { title, body });
}

function stoppedPage({ words, sender, contact, opens }: Stop): Page {
  const { stopped, done, links } = words.pages.stop;
  const text = done(sender, contact);
  return noticeOf(200, words, { title: stopped, text: opens ? `${text} ${links}` : text });
}

function failureOf(ctx: Ctx, words: Words, error: unknown): Page {
  const { pages } = words;
  const { status, extras } = error instanceof Problem ? error : { status: 500, extras: {} };
  ctx.set(extras.headers ?? {});
  if (status >= 500) ctx.state.failure = error;
  if (status === 404 || status === 410) return noticeOf(404, words, pages.unknown);
  if (status === 429) return noticeOf(429, words, pages.tooMany);
  if (status === 409) return noticeOf(409, words, pages.closed);
  if (status < 500) return noticeOf(status, words, { title: pages.broken.title, text: pages.reference.incomplete });
  return noticeOf(status, words, pages.broken);
}

/** Browsers send line breaks as CR LF. */
function textIn(value: unknown): string {
  return typeof value === "string" ? value.replaceAll("\r\n", "\n").trim() : "";
}
