// k6 run -q --log-format raw -e BASE_URL=http://localhost:8080 -e KEYS=cos_live_…,cos_live_…,cos_live_… test/load/exactness.js
// Proves that the account and each of its keys are admitted exactly as often as RateLimit-Policy says. See README.md here.
import { play } from "./k6.js";

export { handleSummary, options } from "./k6.js";

export default () => play("exactness");
