import type { LastDelivery, Webhook } from "../../../webhooks/schema.ts";
import { json, type Send } from "./request.ts";
import type { Result } from "./result.ts";

/** Why a webhook is disabled, and why an attempt had no answer. */
export const REASONS: Readonly<Record<NonNullable<Webhook["disabled_reason"] | LastDelivery["error"]>, string>> = {
  requested: "somebody turned it off",
  gone: "the receiver answered 410 (Gone)",
  failing: "the last retry failed",
  address: "its name has no address, or one that nudges may not go to",
  connection: "no connection could be made, or it broke",
  tls: "its certificate is not valid, or the TLS handshake broke",
  timeout: "no answer came within 15 seconds",
};

/** Says in words what became of an attempt. */
export function outcomeOf({ status, error }: LastDelivery): string {
  if (status === null) return `failed: ${REASONS[error ?? "connection"]}.`;
  return `${status < 300 ? "arrived" : "failed"}: the receiver answered ${status}.`;
}

/** Has a nudge sent, then reads the webhook until it has the result. An attempt takes up to 15 s, the five reads 18.6 s. */
export async function testNudge(id: string, send: Send): Promise<Result<{ webhook: Webhook; text: string }>> {
  const begun = await send(`/webhooks/${id}/test`, json<Webhook>, "POST");
  if (begun.kind !== "ok") return begun;
  for (let pause = 600; pause < 10_000; pause *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const read = await send(`/webhooks/${id}`, json<Webhook>);
    if (read.kind === "refused" && [429, 503].includes(read.refusal.status)) break; // the test was sent all the same
    if (read.kind !== "ok") return read;
    const { last_delivery: last } = read.body;
    if (last !== null && last.at !== begun.body.last_delivery?.at)
      return { kind: "ok", body: { webhook: read.body, text: `The test nudge ${outcomeOf(last)}` } };
  }
  const text = "The test nudge was sent. It has no result yet: read the webhooks again later.";
  return { kind: "ok", body: { webhook: begun.body, text } };
}
