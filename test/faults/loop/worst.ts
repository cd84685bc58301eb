import { randomUUID } from "node:crypto";
import type { Route } from "../../../src/api/endpoint.ts";
import { propertiesOf } from "../../../src/schema/fields.ts";
import { bulks } from "./worst-bulk.ts";
import { CANDIDATES, letters, PARTS, REFUSED, wrongFields } from "./bodies.ts";
import { json, JSON_TYPE, many, now, type Send, type Sent, type Worst } from "./requests.ts";
import type { LoadAnswer } from "../../support/load.ts";

/** Candidates that are as large as the service allows: one of text, one of many small values. Accounts whose pages are so. */
export interface World {
  readonly send: Send;
  readonly pages: readonly { readonly what: string; readonly send: Send }[];
  readonly ids: readonly string[];
  /** Of each of the candidates: a document with content and a reference. */
  readonly document: (id: string) => string;
  readonly reference: (id: string) => string;
}

const MAX_HEADER = 12_000;
const TAGS = '"a",'.repeat(MAX_HEADER / 4);
const LONG_LISTS: Record<string, Record<string, string>> = {
  "If-Match and If-None-Match": { "If-Match": TAGS.slice(0, 6_000), "If-None-Match": '"'.repeat(6_001) },
  "Accept, X-Forwarded-For and Cookie": {
    Accept: "a/b;q=0.1,".repeat(400),
    "X-Forwarded-For": "1.1.1.1,".repeat(400),
    Cookie: "a=b;".repeat(800),
  },
  "Range, Content-Disposition and Idempotency-Key": {
    Range: `bytes=${"0-1,".repeat(900)}0-1`,
    "Content-Disposition": `attachment${'; a="\\\\"'.repeat(400)}`,
    "Idempotency-Key": "k".repeat(4_000),
  },
};

/** The hardest requests that the endpoint refuses. */
export function refusals(route: Route, { send, ids: [id = ""], document, reference }: World): Worst[] {
  const path = pathOf(route, id, { document: document(id), reference: reference(id) });
  const fields = Object.keys(propertiesOf(route.body));
  const bodies = fields.length === 0 && route.body === undefined ? {} : { ...REFUSED, ...wrongFields(fields) };
  const fits = new URLSearchParams({ cursor: letters(300), external_id: letters(190) });
  return [
    now("12 KB of parameters", () => send(route.method, `${path}?${"a&".repeat(MAX_HEADER / 2)}`)),
    now("3,000 different parameters", () =>
      send(route.method, `${path}?${many(3_000, (n) => n.toString(36)).join("&")}`),
    ),
    now("parameters of every script", () => send(route.method, `${path}?${String(fits).slice(0, MAX_HEADER)}`)),
    now("a path of 12 KB", () =>
      send(
        route.method,
        pathOf(route, "%41".repeat(MAX_HEADER / 3), { document: "d", reference: "%41".repeat(MAX_HEADER / 3) }),
      ),
    ),
    ...Object.entries(LONG_LISTS)
      .filter(([, headers]) => !("Idempotency-Key" in headers) || route.method !== "DELETE")
      .map(([what, headers]) =>
        now(`long ${what}`, () =>
          send(route.method, pathOf(route, "cand_none", { document: "d", reference: "r" }), {
            headers,
            ...(route.body ? { body: "{}" } : {}),
          }),
        ),
      ),
    ...Object.entries(bodies).map(([what, body]) =>
      now(what, () => send(route.method, path, { body, headers: JSON_TYPE })),
    ),
    ...(route.upload?.form !== undefined
      ? [now("a form of 1 MiB in 31 fields", () => send("POST", path, formOf()))]
      : []),
  ];
}

/** The hardest requests that the endpoint accepts, by method and path. */
export function successes({ send, pages, ids, document, reference }: World): Record<string, Worst[]> {
  const each = (what: string, request: (id: string) => Promise<LoadAnswer>): Worst[] =>
    ids.map((id, n) => now(`${what}, ${n === 0 ? "of text" : "of small values"}`, () => request(id)));
  const fresh = (what: string, request: (made: Made) => Promise<LoadAnswer>): Worst[] =>
    Object.entries(CANDIDATES).map(([kind, body]) => ({
      what: `${what}: ${kind}`,
      async prepare() {
        const { id, documents, references } = JSON.parse(
          (await send("POST", "/candidates", json(body()))).body,
        ) as Made;
        return () => request({ id, documents, references });
      },
    }));
  let turn = 0;
  const replayed = (what: string, request: (headers: Record<string, string>) => Promise<LoadAnswer>): Worst => ({
    what: `${what}, replayed`,
    async prepare() {
      const headers = { "Idempotency-Key": randomUUID() };
      await request(headers);
      return () => request(headers);
    },
  });
  return {
    "GET /limits": [now("limits", () => send("GET", "/limits"))],
    "POST /candidates": Object.entries(CANDIDATES).flatMap(([what, body]) => [
      now(what, () => send("POST", "/candidates", json(body()))),
      now(`${what}, with a key`, () => send("POST", "/candidates", json(body(), { "Idempotency-Key": `k${turn++}` }))),
      replayed(what, (headers) => send("POST", "/candidates", json(body(), headers))),
      now(`dry run: ${what}`, () => send("POST", "/candidates?dry_run=true", json(body()))),
    ]),
    ...bulks(send, ids),
    "GET /candidates": pages.map((page) => now(page.what, () => page.send("GET", "/candidates?limit=1000"))),
    "GET /candidates/:id": each("the largest", (id) =>
      send("GET", `/candidates/${id}`, { headers: { "If-None-Match": TAGS } }),
    ),
    "PATCH /candidates/:id": each("the largest", (id) =>
      send("PATCH", `/candidates/${id}`, json({ name: letters(200, turn++) })),
    ),
    "DELETE /candidates/:id": fresh("erase", ({ id }) => send("DELETE", `/candidates/${id}`)),
    "POST /candidates/:id/start": [
      ...fresh("start", ({ id }) =>
        send("POST", `/candidates/${id}/start`, { headers: { "Idempotency-Key": `start-${id}` } }),
      ),
      ...ids.map((id, n) =>
        replayed(`the largest, ${n === 0 ? "of text" : "of small values"}`, (headers) =>
          send("POST", `/candidates/${id}/start`, { headers }),
        ),
      ),
    ],
    "PATCH /candidates/:id/outreach": each("the largest", (id) =>
      send("PATCH", `/candidates/${id}/outreach`, json({ docs_chase_attempts: turn++ % 100 })),
    ),
    "POST /candidates/:id/documents": fresh("add", ({ id, documents }) =>
      send(
        "POST",
        `/candidates/${id}/documents`,
        documents.length < 200
          ? json({ name: "x", content: { data: "AAAA".repeat(250_000) } })
          : json(PARTS.document(1)),
      ),
    ).filter(({ what }) => /references/.test(what)),
    "GET /candidates/:id/documents/:docId": each("the largest", (id) =>
      send("GET", `/candidates/${id}/documents/${document(id)}`),
    ),
    "PATCH /candidates/:id/documents/:docId": each("the largest", (id) =>
      send(
        "PATCH",
        `/candidates/${id}/documents/${document(id)}`,
        json({ rejection_reason: letters(1_000, turn++), state: "rejected" }),
      ),
    ),
    "DELETE /candidates/:id/documents/:docId": fresh("remove", ({ id, documents }) =>
      send("DELETE", `/candidates/${id}/documents/${documents[0]?.id ?? ""}`),
    ).filter(({ what }) => /documents/.test(what)),
    "PUT /candidates/:id/documents/:docId/content": each("1 MB", (id) =>
      send("PUT", `/candidates/${id}/documents/${document(id)}/content`, {
        body: String(turn++).padEnd(1_000_000, "x"),
        headers: {
          "Content-Type": `text/plain${';a="\\\\"'.repeat(34)}`,
          "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(letters(400))}`,
        },
      }),
    ),
    "GET /candidates/:id/documents/:docId/content": each("1 MB", (id) =>
      send("GET", `/candidates/${id}/documents/${document(id)}/content`, { headers: { "If-None-Match": TAGS } }),
    ),
    "POST /candidates/:id/references": fresh("add", ({ id }) =>
      send("POST", `/candidates/${id}/references`, json(PARTS.reference(turn++), { "Idempotency-Key": `r${turn}` })),
    ).filter(({ what }) => !/50 references with/.test(what)),
    "GET /references/:id": each("the largest", (id) => send("GET", `/references/${reference(id)}`)),
    "PATCH /references/:id": each("the largest", (id) =>
      send("PATCH", `/references/${reference(id)}`, json({ relationship: `turn ${turn++}` }, { "If-Match": "*" })),
    ),
    "DELETE /references/:id": fresh("remove", ({ references }) =>
      send("DELETE", `/references/${references[0]?.id ?? ""}`),
    ).filter(({ what }) => /50 references with/.test(what)),
    "GET /candidates/:id/pack": ["json", "pdf", "zip"].flatMap((form) =>
      each(form, (id) => send("GET", `/candidates/${id}/pack?format=${form}`)),
    ),
    "GET /settings/assistant": [now("settings", () => send("GET", "/settings/assistant"))],
    "PATCH /settings/assistant": [
      now("the longest", () =>
        send(
          "PATCH",
          "/settings/assistant",
          json({
            instructions: letters(2_000, turn++),
            display_name: letters(200),
            language: `en-u-${many(23, (n) => `a${n + 10}`).join("-")}`.slice(0, 99),
          }),
        ),
      ),
    ],
    "GET /settings/quiet-hours": [now("settings", () => send("GET", "/settings/quiet-hours"))],
    "PATCH /settings/quiet-hours": ["America/Argentina/ComodRivadavia", "Africa/El_Aaiun", "Asia/Gaza"].map(
      (timezone) =>
        now(timezone, () =>
          send(
            "PATCH",
            "/settings/quiet-hours",
            json({ enabled: true, timezone, days: ["mon"], start: `0${turn++ % 10}:01` }),
          ),
        ),
    ),
  };
}

interface Made {
  readonly id: string;
  readonly documents: readonly { id: string }[];
  readonly references: readonly { id: string }[];
}

function pathOf(
  { path }: Route,
  candidate: string,
  { document, reference }: { document: string; reference: string },
): string {
  return path
    .replace("/references/:id", `/references/${reference}`)
    .replace(":id", candidate)
    .replace(":docId", document);
}

function formOf(): Sent {
  const field = (n: number) =>
    `--b\r\nContent-Disposition: form-data; name="${n === 0 ? "metadata" : `f${n}`}"\r\n\r\n{${many(300, (m) => `"${n}_${m}":"${"x".repeat(90)}"`).join()}}\r\n`;
  return {
    body: `${many(31, field).join("")}--b--\r\n`,
    headers: { "Content-Type": "multipart/form-data; boundary=b" },
  };
}
