// k6 run -q --log-format raw -e BASE_URL=http://localhost:8080 -e KEYS=cos_live_… test/load/backfill.js
// Creates candidates with the first key, which has a grant, until window and grant are used up: exactly as many as allowed. See README.md here.
import { play } from "./k6.js";

export { handleSummary, options } from "./k6.js";

export default () => play("backfill");
