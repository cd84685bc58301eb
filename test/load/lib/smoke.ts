import { askFor } from "./asks.ts";
import { jsonOf, readStated, textOf } from "./contract.ts";
import type { Outcome } from "./host.ts";
import type { Finding } from "./judge.ts";
import type { Ask, Run } from "./run.ts";

/** Uses every surface once with the first key, and checks the basics of the contract. Needs a key with some room left. */
export async function smoke(run: Run): Promise<Finding[]> {
  const findings: Finding[] = [];
  const check = (text: string, holds: boolean): void =>
    void findings.push({ result: holds ? "holds" : "failed", text });
  const send = (ask: Omit<Ask, "key">): Promise<Outcome> => run.send({ key: 0, ...ask });

  await run.limits(0); // refuses a key that does not work
  const contract = await send({ method: "GET", path: "/openapi.json", surface: "free" });
  check("GET /openapi.json is OpenAPI 3", textOf(contract.answer.body, "openapi").startsWith("3."));
  const headers = { Authorization: "Bearer nonsense" };
  const stranger = await send({ method: "GET", path: "/candidates", surface: "list", headers, expects: [401] });
  check("an unknown key is 401 with WWW-Authenticate", has(stranger, 401, "www-authenticate"));
  const nowhere = await send({ method: "GET", path: "/nowhere", surface: "free", expects: [404] });
  check("an unknown path is 404 not_found", textOf(nowhere.answer.body, "code") === "not_found");

  const idempotent = { "Idempotency-Key": `load-${Date.now()}-${Math.random()}` };
  const create = { ...askFor("create", 0, ""), headers: idempotent };
  const created = await send(create);
  check("POST /candidates creates, with Location", has(created, 201, "location"));
  const again = await send(create);
  check("the same Idempotency-Key replays the answer", has(again, 201, "idempotent-replayed"));
  check("a replay is the first answer", again.answer.body === created.answer.body);
  const remaining = [created, again].map(({ answer }) => readStated(answer.headers)?.key.remaining ?? 0);
  check(
    "a replay counts too, and RateLimit counts down",
    again.window !== created.window || remaining[1]! < remaining[0]!,
  );

  const id = textOf(created.answer.body, "id");
  const read = await send(askFor("reads", 0, id));
  check("GET /candidates/{id} has an ETag", has(read, 200, "etag"));
  const known = { "If-None-Match": read.answer.headers["etag"] ?? "" };
  const unchanged = await send({ ...askFor("reads", 0, id), headers: known });
  check("If-None-Match answers 304", unchanged.answer.status === 304);
  const page = await send({ method: "GET", path: "/candidates?limit=1", surface: "list" });
  check("GET /candidates is a page with a cursor", textOf(page.answer.body, "cursor") !== "");
  for (const surface of ["start", "writes", "pack", "settings"] as const) {
    const { answer } = await send(askFor(surface, 0, id));
    check(`${surface} answers 200`, answer.status === 200);
  }
  const asked = { "X-Request-Id": "load-smoke-1" };
  const limits = await send({ method: "GET", path: "/limits", surface: "free", headers: asked });
  check("X-Request-Id of the client is kept", limits.answer.headers["x-request-id"] === asked["X-Request-Id"]);
  check(
    "GET /limits shows seven surfaces",
    (jsonOf(limits.answer.body)["surfaces"] as unknown[] | undefined)?.length === 7,
  );
  return findings;
}

function has({ answer }: Outcome, status: number, header: string): boolean {
  return answer.status === status && answer.headers[header] !== undefined;
}
