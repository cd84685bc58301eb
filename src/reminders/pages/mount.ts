import type Router from "@koa/router";
import type { Context } from "koa";
import type { ApiState } from "../../api/admit.ts";
import type { DocumentService } from "../../documents/service.ts";
import { negotiate } from "../../http/negotiate.ts";
import type { UploadRules } from "../../http/upload.ts";
import { html } from "../../infra/html.ts";
import { Problem } from "../../problems.ts";
import { LANGUAGES, wordsOf } from "../languages/language.ts";
import type { Words } from "../languages/words.ts";
import { candidatePage, type News } from "./candidate-page.ts";
import { noticeOf, type Page, pageOf, POLICY } from "./page.ts";
import { receiveFields, receiveFile, refusalOf } from "./receive.ts";
import { fieldOf, MAX_ANSWER, questionsPage, refereePage } from "./referee-page.ts";
import { excessOf, isOpen, type RefereeResponse, type Shown, type Stop, type Visit, type Visits } from "./visits.ts";

export interface PagesOptions {
  visits: Visits;
  documents: DocumentService;
  maxFileBytes: number;
  bodyTimeoutMs: number;
}

type Ctx = Context & { state: ApiState; params: Record<string, string> };
type Kind = "candidate" | "referee";

const BYTES_PER_MEGABYTE = 1024 * 1024;

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy": POLICY,
  // The path holds the token.
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
};

/** The path of an upload, below that of a candidate's link. */
const UPLOAD = "/documents/:document";

/** The paths whose POST reads a form, and so holds memory while it arrives. */
const FORMS = new Set([UPLOAD, "/questions"]);

/** The path of the first page of each kind. */
const PATHS = { candidate: "/u", referee: "/r" } as const;

/**
 * Adds the pages that links in reminders lead to. They need no key and charge no limit. A GET changes nothing, because
 * mail scanners follow links; a POST does.
 */
export function mountPages(
  router: Router<ApiState>,
  { visits, documents, maxFileBytes, bodyTimeoutMs }: PagesOptions,
): void {
  const rules: UploadRules = { maxFileBytes, timeoutMs: bodyTimeoutMs };
  const megabytes = Math.floor((maxFileBytes / BYTES_PER_MEGABYTE) * 10) / 10;

  /** Adds one page. `open` opens its link, and `show` returns it, or the path to go to after a POST has changed something. */
  function addPage<Opened extends Shown>(
    method: "get" | "post",
    kind: Kind,
    rest: string,
    open: (token: string, ctx: Ctx) => Promise<Opened>,
    show: (opened: Opened, ctx: Ctx) => Promise<Page | string> | Page | string,
  ): void {
    const route = `${PATHS[kind]}/:token${rest}`;
    router[method](route, async (context) => {
      const ctx = context as Ctx;
      ctx.state.endpointName = `${kind}Page`;
      ctx.state.route = route;
      ctx.set(HEADERS);
      let words = wordsOf(languageFor(ctx.req.headers["accept-language"]));
      const token = ctx.params["token"] ?? "";
      const answer = async () => {
        const opened = await open(token, ctx);
        words = opened.words;
        return show(opened, ctx);
      };
      try {
        send(ctx, await (method === "post" && FORMS.has(rest) ? visits.receiving(token, answer) : answer()));
      } catch (error) {
        send(ctx, failureOf(ctx, words, error));
      }
    });
  }
  const parameter = ({ query }: Ctx, name: string) => String(query[name] ?? "");
  /** Adds a page that needs the candidate. */
  function add(
    method: "get" | "post",
    kind: Kind,
    rest: string,
    show: (visit: Visit, ctx: Ctx) => Promise<Page | string> | Page | string,
  ): void {
    const open = (token: string, ctx: Ctx) => visits.open(token, { kind, arrived: parameter(ctx, "arrived") }, ctx.ip);
    addPage(method, kind, rest, open, show);
  }

  const pathOf = ({ params }: Ctx, kind: Kind) => `${PATHS[kind]}/${params["token"]}`;
  const maxMegabytesIn = ({ language }: Words) => new Intl.NumberFormat(language).format(megabytes);
  const factsOf = (visit: Visit, ctx: Ctx) => ({
    ...visit,
    path: pathOf(ctx, "candidate"),
    maxMegabytes: maxMegabytesIn(visit.words),
  });

  add("get", "candidate", "", (visit, ctx) => {
    if (!isOpen(visit)) return closed(visit);
    return candidatePage(200, factsOf(visit, ctx), arrivedNews(visit));
  });

  add("post", "candidate", UPLOAD, async (visit, ctx) => {
    if (!isOpen(visit)) return closed(visit);
    const documentId = ctx.params["document"] ?? "";
    try {
      await receiveFile(ctx.req, { visit, documentId }, { documents, rules });
    } catch (error) {
      const refused = refusalOf(error, visit.words, maxMegabytesIn(visit.words));
      if (refused === undefined) throw error;
      if (refused.status >= 500) ctx.state.failure = error;
      return candidatePage(refused.status, factsOf(visit, ctx), { documentId, text: refused.text, refused: true });
    }
    return `${pathOf(ctx, "candidate")}?arrived=${documentId}`;
  });

  const refereeFacts = (visit: Visit, ctx: Ctx) => ({ ...visit, path: pathOf(ctx, "referee") });
  add("get", "referee", "", (visit, ctx) =>
    isOpen(visit) ? refereePage(200, refereeFacts(visit, ctx)) : closed(visit),
  );
  add("get", "referee", "/questions", (visit, ctx) =>
    isOpen(visit) ? questionsPage(200, refereeFacts(visit, ctx)) : closed(visit),
  );
  add("post", "referee", "/questions", async (visit, ctx) => {
    if (!isOpen(visit)) return closed(visit);
    const texts = visit.words.pages.reference;
    const fields = await receiveFields(ctx.req, rules);
    const answers = visit.questions.map((question) => textIn(fields[fieldOf(question)]));
    const refused = (status: number, text: string) =>
      questionsPage(status, refereeFacts(visit, ctx), { answers, refused: text });
    const known = new Set(visit.questions.map(fieldOf));
    if (Object.keys(fields).some((name) => !known.has(name) && textIn(fields[name]) !== ""))
      return refused(409, texts.changed);
    const response = responseOf(visit, answers);
    if (response.answers.length === 0) return refused(422, texts.empty);
    const excess = Math.max(excessOf(response), ...answers.map((answer) => answer.length - MAX_ANSWER));
    if (excess > 0) return refused(422, texts.tooLong(excess));
    await visits.answer(visit, response);
    return pathOf(ctx, "referee");
  });
  add("post", "referee", "/decline", async (visit, ctx) => {
    if (!isOpen(visit)) return closed(visit);
    await visits.decline(visit);
    return pathOf(ctx, "referee");
  });

  // A browser that reloads a page which answered a form asks for the form's path.
  add("get", "candidate", UPLOAD, (_, ctx) => pathOf(ctx, "candidate"));
  add("get", "referee", "/decline", (_, ctx) => pathOf(ctx, "referee"));

  for (const kind of ["candidate", "referee"] as const) {
    const open = (token: string, ctx: Ctx) => visits.openStop(token, { kind, of: parameter(ctx, "of") }, ctx.ip);
    addPage("get", kind, "/stop", open, (stop, ctx) =>
      stop.stopped ? stoppedPage(stop) : stopPage(stop, `${pathOf(ctx, kind)}/stop${ctx.search}`),
    );
    // A mail client sends this by itself if its user asks it to (RFC 8058). Its body says nothing that is needed.
    addPage("post", kind, "/stop", open, async (stop) => {
      await visits.stop(stop);
      return stoppedPage(stop);
    });
  }
}

/** The language of a page whose account is not known: the one that the browser asks for. */
function languageFor(header: string | undefined): string {
  const [best = "en"] = negotiate(
    "accept-language",
    header,
    LANGUAGES.map(({ language }) => language),
  );
  return best;
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

/** The page of a link that its visitor no longer needs. */
function closed(visit: Visit): Page {
  const { record, reference, words } = visit;
  const { pages } = words;
  if (reference?.state === "received")
    return noticeOf(200, words, { title: pages.thanks, text: pages.reference.received });
  if (reference?.state === "declined")
    return noticeOf(200, words, { title: pages.thanks, text: pages.reference.declined });
  if (reference === undefined && record.state === "completed")
    return noticeOf(200, words, { title: pages.thanks, text: pages.documents.all });
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

/** What the page says after an upload: the browser comes back with a GET. */
function arrivedNews({ record, words }: Visit): News | undefined {
  const document = record.arrived.find(({ state }) => state === "received");
  if (document === undefined) return undefined;
  return { documentId: document.id, text: words.pages.documents.arrived(document.name), refused: false };
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

function responseOf({ questions }: Visit, answers: readonly string[]): RefereeResponse {
  const all = questions.map((question, n) => ({ question, answer: answers[n] ?? "" }));
  return { answers: all.filter(({ answer }) => answer !== "") };
}

/** Browsers send line breaks as CR LF. */
function textIn(value: unknown): string {
  return typeof value === "string" ? value.replaceAll("\r\n", "\n").trim() : "";
}
