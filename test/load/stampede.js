// k6 run -q --log-format raw -e BASE_URL=http://localhost:8080 -e KEYS=cos_live_… test/load/stampede.js
// All keys come at the window's edge, and the limits must hold exactly on both sides of it. See README.md here.
import { play } from "./k6.js";

export { handleSummary, options } from "./k6.js";

export default () => play("stampede");
