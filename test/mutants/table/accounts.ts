import type { Mutant } from "../mutant.ts";

/** What protects accounts and keys: the cap, rotation, revocation, the version. */
export const accountMutants: Mutant[] = [
  {
    file: "src/accounts/account.ts",
    before: "if (activeKeys(account).length >= cap) {",
    after: "if (activeKeys(account).length > cap) {",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "if (activeKeys(account).length >= cap) {",
    after: "if (account.keys.length >= cap) {",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "key.id === keyId ? { ...key, revoked_at: now } : key",
    after: "{ ...key, revoked_at: now }",
    red: ["test/accounts/authenticate.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "  if (findKey(account, keyId).revoked_at !== null) return account;\n",
    after: "",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "return { ...account, keys: withoutOldestRevoked(keys) };",
    after: "return { ...account, keys };",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "if (rotated.revoked_at !== null) {",
    after: 'if (rotated.id === "") {',
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "old.expires_at !== null && old.expires_at < graceEnds ? old.expires_at : graceEnds",
    after: "graceEnds",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "    .filter((old) => !hasExpired(old, secret.created_at))\n",
    after: "",
    red: ["test/accounts/rotation.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: ".slice(-MAX_SECRETS);",
    after: ".slice();",
    red: ["test/accounts/rotation.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "secret.expires_at <= now",
    after: "secret.expires_at < now",
    red: ["test/accounts/rotation.test.ts"],
  },
  {
    file: "src/accounts/account.ts",
    before: "key.revoked_at === null || key.revoked_at >= since",
    after: "key.revoked_at === null || key.revoked_at > since",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/store.ts",
    before: "replaceOne({ _id: accountId, version: before.version }, after, limits)",
    after: "replaceOne({ _id: accountId }, after, limits)",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/store.ts",
    before: "return matchedCount === 1 ? after : undefined;",
    after: "return matchedCount >= 0 ? after : undefined;",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/store.ts",
    before: "version: before.version + 1",
    after: "version: before.version",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/store.ts",
    before: "if (edited === before) return before;",
    after: "",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/store.ts",
    before: "{ _id: { $gt: last } }",
    after: "{ _id: { $gte: last } }",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/store.ts",
    before: "{ $max: { last_used_at: at } }",
    after: "{ $set: { last_used_at: at } }",
    red: ["test/accounts/last-used.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before: "add(await this.#store.get(accountId)); // throws before anything is written",
    after: "await this.#store.get(accountId);",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before: "await this.#store.dropKey(keyId, hash);",
    after: "",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before: "    rotate(await this.#store.get(accountId)); // throws before anything is written\n",
    after: "",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before: "await orLimiterUnavailable(`The key ${keyId} is revoked`, this.#announcer.keyChanged(changed, keyId));",
    after: "",
    red: ["test/limits/limits.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before:
      "await orLimiterUnavailable(`The account ${accountId} is ${status}`, this.#announcer.statusChanged(changed));",
    after: "",
    red: ["test/limits/limits.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before: "const warning = await this.#announcer.keyChanged(account, keyId).then(",
    after: "const warning = await Promise.resolve(findKey(account, keyId)).then(",
    red: ["test/limits/limits.test.ts"],
  },
  {
    file: "src/accounts/service.ts",
    before: "const hash = hashKey(secret);",
    after: "const hash = secret;",
    red: ["test/accounts/service.test.ts"],
  },
  {
    file: "src/accounts/announcer.ts",
    before: "!done || account.version !== tried; account",
    after: "!done; account",
    red: ["test/accounts/announcer.test.ts"],
  },
  {
    file: "src/accounts/announcer.ts",
    before: "if (key === undefined || key.revoked_at !== null) return",
    after: "if (key?.revoked_at != null) return",
    red: ["test/accounts/announcer.test.ts"],
  },
  {
    file: "src/accounts/announcer.ts",
    before: "const restored = account.version === tried;",
    after: "const restored = tried > 0;",
    red: ["test/accounts/announcer.test.ts"],
  },
  {
    file: "src/accounts/announcer.ts",
    before: "done = (await setMarker(account, restored)) || restored;",
    after: "done = (await setMarker(account, restored)) || true;",
    red: ["test/accounts/restored.test.ts"],
  },
];
