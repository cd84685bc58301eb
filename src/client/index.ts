export { OnboardingClient, type UploadOptions } from "./client.ts";
export type { Download, Range } from "./download.ts";
export { ConnectionError, ProblemError, RateLimitError } from "./errors.ts";
export type { CopiedCandidate, Mirror, MirrorOptions, MirrorPage, MirrorRow, Verification } from "./mirror.ts";
export type { Bytes } from "./payload.ts";
export { SyncRefused } from "./sync.ts";
export type { CreateOptions, ImportOptions, SyncChange, SyncOptions, SyncProgress, SyncResult } from "./sync.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export type * from "./types.gen.ts";
