/** The account and the key that a request is made with. */
export type Caller = Readonly<{ accountId: string; keyId: string }>;

/** A caller as the author of changes. */
export type Requester = Caller & { readonly by: { readonly type: "key"; readonly id: string } };

/** A caller, with what authentication found out about its key. */
export interface KnownCaller extends Requester {
  /** Version of the account's record that the key was looked up in. The limiter compares it with the one that Redis knows. */
  readonly accountVersion: number;
  /** Number of connections made to Redis when that lookup began. Once there is another, the key must be looked up again. */
  readonly connections: number;
  /** Time at which the secret expires, in milliseconds since the epoch by Redis's clock; 0 for never. */
  readonly secretEndsAt: number;
}
