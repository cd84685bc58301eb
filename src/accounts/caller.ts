/** Who a request comes from, as its API key says. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
}

/** A caller as authentication knows it. */
export interface KnownCaller extends Caller {
  /** Version of the account's record that vouched for the key: the limiter knows whether a rotation came after it. */
  readonly accountVersion: number;
  /** When the secret that came with the request stops working, in milliseconds since the epoch by Redis's clock; 0 for never. */
  readonly secretEndsAt: number;
}
