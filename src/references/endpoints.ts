import type { Eraser } from "../candidates/eraser.ts";
import { CandidatePath } from "../candidates/schema.ts";
import { endpoint } from "../api/endpoint.ts";
import { ReferenceInput, Reference, ReferencePatch, ReferencePath } from "../candidates/reference-schema.ts";
import type { ReferenceService } from "./service.ts";

/** What the operations on one reference have in common. */
const ONE = { tag: "References", params: ReferencePath, response: Reference } as const;

export function referenceEndpoints(references: ReferenceService, eraser: Eraser) {
  return {
    add: endpoint({
      name: "addReference",
      tag: "References",
      summary: "Add a reference to a candidate",
      description: "Adds a reference, in any state that it could be moved to.",
      params: CandidatePath,
      body: ReferenceInput,
      status: 201,
      response: Reference,
      problems: ["not_found", "version_mismatch", "invalid_transition", "too_many_references"],
      location: ({ id }) => `/references/${id}`,
      handle: ({ caller, params, body, newId, precondition }) =>
        references.add(caller, params.id, body, newId("ref"), precondition),
    }),
    read: endpoint({
      ...ONE,
      name: "readReference",
      summary: "Read a reference",
      description: "Reads a reference.",
      problems: ["not_found"],
      handle: ({ caller, params }) => references.read(caller.accountId, params.id),
    }),
    update: endpoint({
      ...ONE,
      name: "updateReference",
      summary: "Update a reference, or move it to another state",
      description:
        "Changes the fields that are sent. state moves the reference; a move that contradicts the rest is 409 invalid_transition.",
      body: ReferencePatch,
      problems: ["not_found", "version_mismatch", "invalid_transition"],
      handle: ({ caller, params, body, precondition }) => references.update(caller, params.id, body, precondition),
    }),
    remove: endpoint({
      name: "deleteReference",
      tag: "References",
      summary: "Delete a reference",
      description: "Deletes a reference.",
      params: ReferencePath,
      status: 204,
      problems: ["not_found", "version_mismatch", "on_hold"],
      handle: ({ caller, params, precondition }) =>
        eraser.removeReference(caller, params.id, precondition).then(() => undefined),
    }),
  };
}
