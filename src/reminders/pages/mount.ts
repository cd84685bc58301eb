import type Router from "@koa/router";
import type { Context } from "koa";
import type { ApiState } from "../../api/admit.ts";
import type { MountOptions } from "../../api/mount.ts";
import type { DocumentService } from "../../documents/service.ts";
import { negotiate } from "../../http/negotiate.ts";
import type { UploadRules } from "../../http/upload.ts";
import { type Html, html } from "../../schema/html.ts";
import { Problem, RESTORING } from "../../problems.ts";
import type { Words } from "../languages/en.ts";
import { LANGUAGES, wordsOf } from "../languages/language.ts";
import { answerLimit, excessOf, sorted, type Typed, typedIn } from "./answers.ts";
import { candidatePage } from "./candidate-page.ts";
import { noticeOf, type Page, pageOf, POLICY, visitPage } from "./page.ts";
import { receiveFields, receiveFile, refusalOf } from "./receive.ts";
import { declinedPage, declinePage, questionsPage, refereePage, typedHtml } from "./referee-page.ts";
import { isOpen, type Kind, mayTakeBack, type Shown, type Stop, type Visit, type Visits } from "./visits.ts";

export interface PagesOptions extends Pick<MountOptions, "restore"> {
  visits: Visits;
  documents: DocumentService;
  maxFileBytes: number;
  bodyTimeoutMs: number;
}

type Ctx = Context & { state: ApiState; params: Record<string, string> };
/**
 * Makes the page, or the path to go to after a POST has changed something.
 * @param typed what a referee has typed into the form, of a POST.
 */
type Show<Opened> = (opened: Opened, ctx: Ctx, typed: () => Promise<Typed>) => Promise<Page | string> | Page | string;

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

/** Maximum forms on this replica that are read only to show them again, because their link could not be opened. */
const MAX_RESCUED = 10;

/**
 * Adds the pages that links in reminders lead to. They need no key and charge no limit. A GET changes nothing, because
 * mail scanners follow links; a POST does.
 */
export function mountPages(router: Router<ApiState>, options: PagesOptions): void {
  const { visits, documents, maxFileBytes, bodyTimeoutMs, restore } = options;
  const rules: UploadRules = { maxFileBytes, timeoutMs: bodyTimeoutMs, takesAnyText: true };
  let rescued = 0;

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
      const isAnswers = method === "post" && rest === QUESTIONS;
      let reading: Promise<Typed> | undefined;
      const typed = () => (reading ??= isAnswers ? receiveFields(ctx.req, rules).then(typedIn) : Promise.resolve([]));
      /** Reads what was typed, though the link was not opened, unless too many do so at once. */
      const rescue = async (): Promise<Typed> => {
        if (reading === undefined && rescued >= MAX_RESCUED) return [];
        rescued++;
        return typed()
          .catch(() => [])
          .finally(() => rescued--);
      };
      const respond = async () => {
        const opened = await open(token, ctx);
        words = opened.words;
        return show(opened, ctx, typed);
      };
      const isForm = isAnswers || (method === "post" && rest === UPLOAD);
      try {
        if (restore.signal.aborted) throw new Problem(RESTORING);
        send(ctx, await (isForm ? visits.receiving(token, respond) : respond()));
      } catch (error) {
        const status = noted(ctx, error);
        const again = status === 429 || status >= 500 ? ctx.path : undefined;
        const isKept = isAnswers && (status !== 404 || reading !== undefined); // who guesses links is not read
        send(ctx, failurePage(status, words, isKept ? typedHtml(words, await rescue(), again) : undefined));
      }
    });
  }
  const parameter = ({ query }: Ctx, name: string) => String(query[name] ?? "");
  const opening = (kind: Kind) => (token: string, ctx: Ctx) =>
    visits.open(token, { kind, isForm: ctx.method === "POST" }, ctx.ip);
  /** Adds a page whose visitor still has something to do. */
  const add = (method: "get" | "post", kind: Kind, rest: string, show: Show<Visit>, isAllowed = isOpen) =>
    addPage(method, kind, rest, opening(kind), async (visit, ctx, typed) =>
      !visit.expired && isAllowed(visit)
        ? show(visit, ctx, typed)
        : closed(visit, typedHtml(visit.words, await typed().catch(() => []))),
    );

  add("get", "candidate", "", (visit, ctx) => candidatePage(visit, maxFileBytes, { id: parameter(ctx, "arrived") }));
  add("post", "candidate", UPLOAD, async (visit, ctx) => {
    const id = ctx.params["document"] ?? "";
    try {
      await receiveFile(ctx.req, visit, id, documents, rules);
    } catch (error) {
      noted(ctx, error);
      return candidatePage(visit, maxFileBytes, { id, refused: refusalOf(error, visit.words, maxFileBytes) });
    }
    return `${visit.path}?arrived=${id}`;
  });

  add("get", "referee", "", (visit) => refereePage(visit));
  add("get", "referee", QUESTIONS, (visit) => questionsPage(200, visit));
  add("post", "referee", QUESTIONS, async (visit, _ctx, typed) => {
    const texts = visit.words.pages.reference;
    const given = await typed();
    const refused = (status: number, text: string) => questionsPage(status, visit, given, text);
    const { answers, others } = sorted(given, visit.questions);
    if (others.length > 0) return refused(409, texts.changed);
    if (given.length === 0) return refused(422, texts.empty);
    const limit = answerLimit(visit.questions);
    if (answers.some(({ answer }) => excessOf(answer, limit) > 0)) return refused(422, texts.tooLong);
    await visits.answer(visit, { answers: answers.filter(({ answer }) => answer !== "") });
    return visit.path;
  });
  add("get", "referee", "/decline", declinePage);
  add("post", "referee", "/decline", (visit) => visits.decline(visit).then(() => visit.path));
  const takeBack: Show<Visit> = (visit) => visits.takeBack(visit).then(() => visit.path + QUESTIONS);
  add("post", "referee", "/take-back", takeBack, mayTakeBack);

  // If the response to a form is a page, a browser that reloads it requests the form's path.
  addPage("get", "candidate", UPLOAD, opening("candidate"), ({ path }) => path);
  addPage("get", "referee", "/take-back", opening("referee"), ({ path }) => path);

  for (const kind of ["candidate", "referee"] as const) {
    const open = (token: string, ctx: Ctx) => visits.openStop(token, { kind, of: parameter(ctx, "of") }, ctx.ip);
    addPage("get", kind, "/stop", open, (stop, { path, search }) =>
      stop.stopped ? stoppedPage(stop) : stopPage(stop, `${path}${search}`),
    );
    // A mail client sends this by itself if its user asks it to (RFC 8058). Its body says nothing that is needed.
    addPage("post", kind, "/stop", open, (stop) => visits.stop(stop).then(() => stoppedPage(stop)));
  }
}

/** Returns the words of a page whose account is not known, in the language that the browser asks for. */
function wordsFor(header: string | undefined): Words {
  const tags = LANGUAGES.map(({ language }) => language);
  const [best = "en"] = negotiate("accept-language", header, tags);
  return wordsOf(best);
}

function send(ctx: Ctx, page: Page | string): void {
  ctx.status = typeof page === "string" ? 303 : page.status;
  if (typeof page === "string") ctx.redirect(page);
  else ctx.body = page.body;
}

/** Returns the page of a link that its visitor no longer needs, or that has expired. @param typed what nobody will read. */
function closed(visit: Visit, typed: Html | undefined): Page {
  const { candidate, reference, words, contact, expired } = visit;
  const { pages } = words;
  const thanks = (text: string) =>
    visitPage(200, visit, {
      title: pages.thanks,
      body: html`<p>${text}</p>
        ${typed}`,
    });
  const { title, text } = pages.expired;
  if (expired) return noticeOf(410, words, { title, text: `${text} ${pages.questions(contact)}` }, typed);
  if (mayTakeBack(visit)) return declinedPage(visit, typed);
  if (reference?.state === "received") return thanks(pages.reference.received);
  if (reference?.state === "declined") return thanks(pages.reference.declined);
  if (reference === undefined && candidate.state === "completed") return thanks(pages.documents.all);
  return noticeOf(410, words, pages.closed, typed);
}

function stopPage({ words, sender, opens }: Stop, action: string): Page {
  const { title, ask, links } = words.pages.stop;
  const body = html`<p>${ask(sender)}${opens && ` ${links}`}</p>
    <form method="post" action="${action}"><button>${title}</button></form>`;
  return pageOf(200, words, { title, body });
}

function stoppedPage({ words, sender, contact, opens }: Stop): Page {
  const { stop, questions } = words.pages;
  const links = opens ? ` ${stop.links}` : "";
  return noticeOf(200, words, { title: stop.stopped, text: `${stop.done(sender)} ${questions(contact)}${links}` });
}

/** Notes an error for the log. Returns its status. */
function noted(ctx: Ctx, error: unknown): number {
  const { status, extras } = error instanceof Problem ? error : { status: 500, extras: {} };
  ctx.set(extras.headers ?? {});
  if (status >= 500) ctx.state.failure = error;
  return status;
}

/** @param typed what was to be sent. */
function failurePage(status: number, words: Words, typed: Html | undefined): Page {
  const { unknown, tooMany, closed, broken, upload } = words.pages;
  const notices: Record<number, typeof broken> = { 404: unknown, 409: closed, 410: unknown, 429: tooMany };
  const other = status < 500 ? { ...broken, text: upload.incomplete } : broken;
  return noticeOf(status === 410 ? 404 : status, words, notices[status] ?? other, typed);
}
