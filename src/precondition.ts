/**
 * Holds a write to what its client has seen. A service calls it with the views of the resource as they are now (a document's
 * own, its candidate's) and the entity tags of anything that is not a view (content). It passes if the client named one of
 * them, or named none.
 * @throws problem version_mismatch
 */
export type Precondition = (views: readonly unknown[], tags?: readonly string[]) => void;
