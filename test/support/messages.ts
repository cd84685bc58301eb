import { config } from "chai";

// The list of failures at the end of a run has only messages, so they must say what was found.
config.truncateThreshold = 2_000;
