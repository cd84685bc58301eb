// k6 run -q --log-format raw -e BASE_URL=http://localhost:8080 -e KEYS=cos_live_… test/load/smoke.js
// Uses every surface once with the first key, and checks status, headers and problems against the contract. See README.md here.
import { play } from "./k6.js";

export { handleSummary, options } from "./k6.js";

export default () => play("smoke");
