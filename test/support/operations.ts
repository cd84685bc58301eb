import { tracingChannel } from "node:diagnostics_channel";
import { type OperationContext, STORE_CHANNEL } from "../../src/infra/store-channel.ts";

/** The collections that are used only for requests. The service uses others in the background too. */
const FOR_REQUESTS = /^(candidates|reference_index|idempotency_records|content.*)$/;

/**
 * Runs this, and returns the operations that the services in this process sent to MongoDB meanwhile, in order:
 * "find candidates". Each is one round trip.
 */
export async function operationsDuring(run: () => Promise<unknown>): Promise<string[]> {
  const operations: string[] = [];
  const channel = tracingChannel<unknown, OperationContext>(STORE_CHANNEL);
  const ignored = () => undefined;
  const subscriber = {
    start: ({ system, command, collection = "" }: OperationContext) => {
      if (system === "mongodb" && FOR_REQUESTS.test(collection)) operations.push(`${command} ${collection}`);
    },
    end: ignored,
    asyncStart: ignored,
    asyncEnd: ignored,
    error: ignored,
  };
  channel.subscribe(subscriber);
  try {
    await run();
  } finally {
    channel.unsubscribe(subscriber);
  }
  return operations;
}
