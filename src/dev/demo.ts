import { Operations } from "../admin/operations.ts";
import type { Config } from "../config.ts";

/**
 * Tells on standard output where the service is. On a database without an account it first makes one with a key, and
 * shows the key: the only time that can be done.
 */
export async function greet(config: Config, ready: { port: number; opsPort: number }): Promise<void> {
  const operations = new Operations(config);
  try {
    const address = addressOf(config.HOST, ready.port);
    const accounts = await operations.accounts();
    const [existing] = (await accounts.listAccounts()).data;
    if (existing !== undefined) {
      print([
        `Ready: ${address}`,
        `Another key: npm run --silent admin -- keys create --account ${existing.id} --name NAME`,
      ]);
      return;
    }
    const account = await accounts.createAccount({ name: "Demo" });
    const { key } = await accounts.createKey({ accountId: account.id, name: "demo" });
    print([
      `Ready: ${address}`,
      `Demo account ${account.id} with one key, shown this once: ${key}`,
      "Create a candidate:",
      "",
      `  ${exampleRequest(address, key)}`,
    ]);
  } finally {
    await operations.close();
  }
}

/** A line for a shell to paste. */
function exampleRequest(address: string, key: string): string {
  const candidate = {
    name: "Ada Lovelace",
    email: "ada@example.com",
    documents: ["Passport"],
    references: [{ name: "Charles Babbage" }],
  };
  return `curl -i ${address}/candidates -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(candidate)}'`;
}

function addressOf(host: string, port: number): string {
  const everywhere = host === "" || host === "0.0.0.0" || host === "::";
  return `http://${everywhere ? "localhost" : host.includes(":") ? `[${host}]` : host}:${port}`;
}

function print(lines: string[]): void {
  process.stdout.write(`\n${lines.join("\n")}\n\n`);
}
