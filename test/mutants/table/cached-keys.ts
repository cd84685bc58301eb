import { changesOf, type Mutant } from "../mutant.ts";

const CACHED = ["test/accounts/cached-keys.test.ts"];
const KNOWN = ["test/accounts/known-keys.test.ts"];
const AUTHENTICATE = ["test/accounts/authenticate.test.ts"];

const row = changesOf("src/accounts/authenticate.ts", CACHED);

/** What keeps a replica from using a cached key that it must look up again, and from looking up one that it need not. */
export const cachedKeyMutants: Mutant[] = [
  row("if (known?.caller.accountVersion === version) this", "if (known !== undefined) this"),
  row("if (known?.caller.accountVersion === version) this", "if (known === null) this"),
  row("this.#knownKeys.set(hash, { ...known, epoch: null });", "this.#knownKeys.delete(hash);"),
  row("if (known.epoch !== this.#epoch.of(accountId)) return undefined;", ""),
  row("known.epoch !== this.#epoch.of(accountId)", "known.epoch !== this.#epoch.connections"),
  row("this.#clock.now() < secretEndsAt ?", "this.#clock.now() <= secretEndsAt ?", AUTHENTICATE),
  row("const MAX_LOOK_UPS = 3;", "const MAX_LOOK_UPS = 2;"),
  row("const MAX_LOOK_UPS = 3;", "const MAX_LOOK_UPS = 4;"),
  row(
    "const { connections } = this.#epoch;\n      const account = await this.#store.findBySecret(hash);",
    "const account = await this.#store.findBySecret(hash);\n      const { connections } = this.#epoch;",
  ),
  row("      this.#knownKeys.delete(hash); // only now", "      // only now", KNOWN),
  row(
    "const account = await this.#store.findBySecret(hash);\n      this.#knownKeys.delete(hash);",
    "this.#knownKeys.delete(hash);\n      const account = await this.#store.findBySecret(hash);",
    KNOWN,
  ),
  row("        this.#endedSecrets.set(hash, ended);\n", "", AUTHENTICATE),
  row("      this.#knownKeys.set(hash, { caller, epoch: null });\n", "", KNOWN),
  row("{ caller, epoch: null }", "{ caller, epoch: this.#epoch.of(caller.accountId) }"),
  row("connections === this.#epoch.connections && epoch ===", "epoch ==="),
  row(" && epoch === this.#epoch.of(caller.accountId);", ";"),
  row("if (isSame && isKnown) this", "if (isSame) this"),
  row("if (isSame && isKnown) this", "if (isKnown) this"),
  row("if (isSame && isKnown) this", "if (false) this"),
  row("if (isSame || lookUps === MAX_LOOK_UPS)", "if (lookUps === MAX_LOOK_UPS)"),
  row("version: accountVersion,\n        begunMs", "version: 1,\n        begunMs"),
  row("await this.#announce(caller, begunMs);", "await this.#announce(caller, this.#clock.now());"),
  row("        timeoutMs: this.#timeoutMs,\n", "        timeoutMs: 0,\n"),
  row("return false; // The charge", "return true; // The charge"),
  row("      return await this.#versions.lookedUp(accountId, {", "      return this.#versions.lookedUp(accountId, {"),
];
