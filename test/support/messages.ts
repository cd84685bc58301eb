import { config } from "chai";

// The list of failures at the end of a run has only messages, so they must say what was found.
config.truncateThreshold = 2_000;
// chai's proxies look for misspelled assertions. TypeScript finds those already.
config.useProxy = false;
