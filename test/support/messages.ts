import { config } from "chai";

// The list of failures at the end of a run has only messages, so they must say what was found.
config.truncateThreshold = 2_000;
// TypeScript finds the misspelled assertions that chai's proxies look for, and they cost a tenth of `npm test`.
config.useProxy = false;
