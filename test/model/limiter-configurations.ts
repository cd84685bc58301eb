import type { Configuration } from "./configuration.ts";
import { GRANTS_AND_REFUSALS } from "./limiter-refusals.ts";
import { STANDING } from "./limiter-standing.ts";
import { WINDOWS } from "./limiter-windows.ts";

/** All runs of Limiter.tla. Behind each run come its mutants, and runs that show that it reaches interesting states. */
export const LIMITER_CONFIGURATIONS: readonly Configuration[] = [...WINDOWS, ...STANDING, ...GRANTS_AND_REFUSALS];
