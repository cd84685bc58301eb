import type { Surface } from "../../src/limiter/surfaces.ts";
import type { LoadRequest } from "./load.ts";

/** A request that charges each surface. `candidate` is the id of one of the account's candidates. */
export const REQUESTS: Record<Surface, (key: string, candidate: string) => LoadRequest> = {
  create: (key) => ({ method: "POST", path: "/candidates", key, body: "{}" }),
  list: (key) => ({ method: "GET", path: "/candidates?updated_since=2100-01-01T00:00:00Z", key }),
  reads: (key, candidate) => ({ method: "GET", path: `/candidates/${candidate}`, key }),
  start: (key, candidate) => ({ method: "POST", path: `/candidates/${candidate}/start`, key }),
  writes: (key, candidate) => ({ method: "PATCH", path: `/candidates/${candidate}/outreach`, key, body: "{}" }),
  pack: (key, candidate) => ({ method: "GET", path: `/candidates/${candidate}/pack`, key }),
  settings: (key) => ({ method: "PATCH", path: "/settings/assistant", key, body: "{}" }),
};
