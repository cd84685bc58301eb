import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Operations } from "../admin/operations.ts";
import type { Config } from "../config.ts";

const EXAMPLE = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  documents: ["Passport"],
  references: [{ name: "Charles Babbage", email: "charles@example.com" }],
};

/**
 * Prints the service's address on standard output. If the database has no account, creates one with a key and prints the
 * key. A key can be shown only when it is created.
 */
export async function greet(config: Config, ready: { port: number; opsPort: number }): Promise<void> {
  const operations = new Operations(config);
  try {
    const address = addressOf(config.HOST, ready.port);
    const accounts = await operations.accounts();
    const [existing] = (await accounts.listAccounts()).data;
    if (existing !== undefined)
      return print(address, [
        `Another key: npm run --silent admin -- keys create --account ${existing.id} --name NAME`,
      ]);
    const account = await accounts.createAccount({ name: "Demo" });
    const { key } = await accounts.createKey({ accountId: account.id, name: "demo" });
    print(address, [
      `Demo account ${account.id} with one key, shown this once: ${key}`,
      "Create a candidate:",
      "",
      `  curl -i ${address}/candidates -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(EXAMPLE)}'`,
      "",
      ...outboxHint(config),
    ]);
  } finally {
    await operations.close();
  }
}

function outboxHint({ SMTP_URL }: Config): string[] {
  if (!SMTP_URL?.startsWith("file:")) return [];
  return [`Started candidates get reminders. They are written to ${relative("", fileURLToPath(SMTP_URL))}, not sent.`];
}

/** Returns the URL at which this machine reaches the service. */
export function addressOf(host: string, port: number): string {
  const anyAddress = host === "" || host === "0.0.0.0" || host === "::";
  return `http://${anyAddress ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

function print(address: string, lines: string[]): void {
  process.stdout.write(`\nReady: ${address}\n${lines.join("\n")}\n\n`);
}
