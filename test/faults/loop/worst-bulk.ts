import { CANDIDATES, letters } from "./bodies.ts";
import { json, JSON_TYPE, many, now, type Send, type Worst } from "./requests.ts";

const LIST = (entry: string) => `{"candidates":[${many(100, () => entry).join(",")}]}`;
const MEMBERS = (count: number, prefix: string) => many(count, (n) => `"${prefix}${n}":1`).join(",");
/** Bodies of 100 candidates that are refused, each by itself, so that nothing is written. */
const REFUSED: Record<string, () => string> = {
  "100 with 7,600 labels each": () => LIST(`{"metadata":{${MEMBERS(7_600, "m")}}}`),
  "100 with 5,000 unknown members each": () => LIST(`{${MEMBERS(5_000, "unknown")}}`),
  "100 with 8,000 lone surrogates each": () => LIST(`{"name":"${"\\ud800".repeat(8_000)}"}`),
};

/** The hardest requests of several candidates, by method and path. */
export function bulks(send: Send, ids: readonly string[]): Record<string, Worst[]> {
  let turn = 0;
  return {
    "POST /candidates/bulk": [
      ...Object.entries(CANDIDATES).map(([what, body]) =>
        now(`as many as fit, ${what}`, () => {
          const text = JSON.stringify(body());
          const count = Math.min(100, Math.floor((8 * 1024 * 1024 - 100) / (Buffer.byteLength(text) + 1)));
          return send("POST", `/candidates/bulk?count=${count}`, {
            body: `{"candidates":[${many(count, () => text).join(",")}]}`,
            headers: JSON_TYPE,
          });
        }),
      ),
      ...Object.entries(REFUSED).map(([what, body]) =>
        now(what, () => send("POST", "/candidates/bulk?count=100", { body: body(), headers: JSON_TYPE })),
      ),
      now("a candidate of escapes, as large as a body may be", () =>
        send("POST", "/candidates/bulk?count=8", {
          body: `{"candidates":[{},{},{},{},{},{},{},"${'\\"'.repeat(4 * 1024 * 1024 - 100)}"]}`,
          headers: JSON_TYPE,
        }),
      ),
      now("8 MiB of blank lines", () =>
        send("POST", "/candidates/bulk?count=8", {
          body: "\n".repeat(8 * 1024 * 1024 - 100) + "{}\n".repeat(8),
          headers: { "Content-Type": "application/x-ndjson" },
        }),
      ),
      now("a phone of 1 MB that is not readable", () =>
        send(
          "POST",
          "/candidates/bulk?count=1&unreadable=metadata",
          json({ candidates: [{ phone: "x".repeat(1_000_000) }] }),
        ),
      ),
      now("100 that are not readable", () =>
        send(
          "POST",
          "/candidates/bulk?count=100&unreadable=metadata",
          json({ candidates: many(100, () => ({ references: many(50, () => ({ phone: letters(40) })) })) }),
        ),
      ),
    ],
    "PATCH /candidates/bulk": [
      now("100 changes of the largest", () =>
        send(
          "PATCH",
          "/candidates/bulk?count=100",
          json({ candidates: many(100, (n) => ({ id: ids[n % ids.length], name: letters(200, turn++) })) }),
        ),
      ),
    ],
  };
}
