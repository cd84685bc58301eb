// k6 run -q --log-format raw -e BASE_URL=http://localhost:8080 -e KEYS=cos_live_… test/load/soak.js
// Steady mixed traffic for DURATION seconds: each key is an integrator that stays below its limits. See README.md here.
import { play } from "./k6.js";

export { handleSummary, options } from "./k6.js";

export default () => play("soak");
