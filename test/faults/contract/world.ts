import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Service, TestAccount } from "../../support/service.ts";

/** The ids of an account's resources, for paths, and their entity tags, for preconditions. */
export interface Holdings {
  candidates: string[];
  documents: { candidate: string; id: string }[];
  references: string[];
  etags: string[];
}

/** The account that sends the generated requests, and a neighbour account that no response may reveal anything about. */
export interface World {
  readonly account: TestAccount;
  readonly own: Holdings;
  readonly neighbour: TestAccount;
  readonly theirs: Holdings;
  /** Part of every text that the neighbour stores. */
  readonly marker: string;
}

/** An external_id and an Idempotency-Key that the neighbour has used. For other accounts they are unused. */
export const SHARED = "shared-with-the-neighbour";

export async function makeWorld(service: Service): Promise<World> {
  const marker = `neighbour-${randomUUID()}`;
  const [account, neighbour] = [await service.account(), await service.account()];
  return {
    account,
    own: await furnish(account, "own"),
    neighbour,
    theirs: await furnish(neighbour, marker, SHARED),
    marker,
  };
}

/** Creates candidates in several states, with documents, content and references. */
async function furnish({ client }: TestAccount, label: string, shared?: string): Promise<Holdings> {
  const held: Holdings = { candidates: [], documents: [], references: [], etags: [] };
  for (const [index, state] of ["created", "started", "withdrawn"].entries()) {
    const content = {
      filename: `${label}.txt`,
      content_type: "text/plain",
      data: Buffer.from(`content of ${label}`).toString("base64"),
    };
    const made = await client.post(
      "/candidates",
      {
        external_id: index === 0 && shared !== undefined ? shared : `${label}-${index}`,
        name: label,
        email: `${label}@example.com`,
        metadata: { label },
        documents: [{ name: label, content }, { name: `${label} without content` }],
        references: [{ name: label, metadata: { label } }],
      },
      index === 0 && shared !== undefined ? { "Idempotency-Key": shared } : {},
    );
    expect(made.status).to.equal(201);
    const { id, documents, references } = made.body;
    held.candidates.push(id);
    held.documents.push(...documents.map((document) => ({ candidate: id, id: document.id })));
    held.references.push(...references.map((reference) => reference.id));
    if (state === "started") expect((await client.post(`/candidates/${id}/start`)).status).to.equal(200);
    if (state === "withdrawn")
      expect((await client.patch(`/candidates/${id}`, { withdrawn: true, withdrawal_reason: label })).status).to.equal(
        200,
      );
    held.etags.push((await client.get(`/candidates/${id}`)).headers.get("etag") ?? "");
  }
  expect((await client.patch("/settings/assistant", { display_name: label, instructions: label })).status).to.equal(
    200,
  );
  return held;
}

/** Returns everything that an account can read as one text, which is the same as long as nothing has changed. */
export async function everythingOf({ client }: TestAccount, { documents }: Holdings): Promise<string> {
  const paths = [
    "/candidates?limit=1000",
    "/settings/assistant",
    ...documents.map(({ candidate, id }) => `/candidates/${candidate}/documents/${id}/content`),
  ];
  const bodies = [];
  for (const path of paths) {
    const { body } = await client.get(path);
    // The cursor changes with the clock, and the request id with each request.
    bodies.push(JSON.stringify({ ...body, cursor: "", request_id: "" }));
  }
  return bodies.join("\n");
}
