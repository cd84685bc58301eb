/**
 * Checks If-Match, so that a write applies only to a version that its client has seen. A service calls it with the
 * current views of the resource (for a document, its own and its candidate's) and the entity tags of anything that is
 * not a view (content). It passes if If-Match names one of them, or if the request has no If-Match.
 * @throws problem `version_mismatch`
 */
export type Precondition = (views: readonly unknown[], tags?: readonly string[]) => void;
