/** Keeps a copy of all candidates, seconds old: ONBOARDING_URL=… ONBOARDING_KEY=… WEBHOOK_SECRET=… npx tsx receiver.ts */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Candidate, OnboardingClient } from "@candidate-onboarding/client";
import { Webhook } from "standardwebhooks";
const { ONBOARDING_URL = "", ONBOARDING_KEY = "", WEBHOOK_SECRET = "", PORT = "3000" } = process.env;
const mirror = new OnboardingClient({ baseUrl: ONBOARDING_URL, apiKey: ONBOARDING_KEY }).mirror({ every: 3_600 });
const webhook = new Webhook(WEBHOOK_SECRET);
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    let body = "";
    for await (const part of request) if ((body += part).length > 1_024) throw new Error("This is no nudge.");
    webhook.verify(body, request.headers as Record<string, string>); // throws unless the service has signed it
    response.writeHead(204).end();
    mirror.nudge();
  } catch (error) {
    console.error(String(error));
    response.writeHead(401).end();
  }
}
createServer((request, response) => void receive(request, response)).listen(Number(PORT));
const copy = new Map<string, Candidate>(); // or a database: mirror.ts stores the rows of a page with its cursor
for await (const { rows } of mirror.follow((error) => console.error(String(error)))) {
  for (const row of rows) void (row.deleted ? copy.delete(row.id) : copy.set(row.id, row));
  console.log(`${copy.size} candidates`);
}
