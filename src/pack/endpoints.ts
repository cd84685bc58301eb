import { Readable } from "node:stream";
import contentDisposition from "content-disposition";
import Negotiator from "negotiator";
import { CandidatePath } from "../candidates/schema.ts";
import { endpoint } from "../api/endpoint.ts";
import { BinaryAnswer } from "../http/answer.ts";
import { entityTag } from "../http/entity-tags.ts";
import { problem } from "../problems.ts";
import { type Form, FORMS, Pack, PackQuery } from "./schema.ts";
import type { PackService, ReadPack } from "./service.ts";
import { LAYOUT } from "./typeset.ts";

const MEDIA_TYPES: Record<Form, string> = { json: "application/json", pdf: "application/pdf", zip: "application/zip" };

/** The compliance pack: charged once, whatever form it is asked for in. */
export function packEndpoints(packs: PackService) {
  return {
    read: endpoint({
      name: "readPack",
      summary: "Read the compliance pack, as JSON, as a PDF to file, or as a ZIP with the documents",
      params: CandidatePath,
      query: PackQuery,
      status: 200,
      answer: Pack,
      binary: [MEDIA_TYPES.pdf, MEDIA_TYPES.zip],
      problems: ["not_found", "invalid_query", "not_acceptable"],
      async handle({ caller, params, query, header, clientHas }) {
        const form = query.format ?? preferredForm(header("accept"));
        const read = await packs.read(caller.accountId, params.id);
        const headers = headersOf(read.pack, form);
        if (clientHas(headers.ETag)) return new BinaryAnswer(304, headers);
        if (form === "zip") return new BinaryAnswer(200, headers, await packs.zip(read));
        const bytes = await bytesOf(packs, read, form);
        return new BinaryAnswer(200, { ...headers, "Content-Length": String(bytes.length) }, Readable.from([bytes]));
      },
    }),
  };
}

async function bytesOf(packs: PackService, read: ReadPack, form: "json" | "pdf"): Promise<Uint8Array> {
  return form === "pdf" ? packs.pdf(read) : Buffer.from(JSON.stringify(read.pack));
}

/** The form a client likes best (RFC 9110, 12.5.1); JSON where it does not care. @throws problem not_acceptable */
function preferredForm(accept: string | undefined): Form {
  const [best] = new Negotiator({ headers: accept === undefined ? {} : { accept } }).mediaTypes(
    FORMS.map((form) => MEDIA_TYPES[form]),
  );
  const form = FORMS.find((candidate) => MEDIA_TYPES[candidate] === best);
  if (form !== undefined) return form;
  throw problem(
    "not_acceptable",
    `The pack can be had as ${Object.values(MEDIA_TYPES).join(", ")}; name one in Accept or in ?format=.`,
  );
}

/**
 * The ETag covers all that the pack shows but the time it was made: a client that has the same facts in the same form, made
 * earlier, needs no other copy. Two answers under one tag differ in that time alone.
 */
function headersOf(pack: Pack, form: Form) {
  const { generated_at: _, ...facts } = pack;
  const layout = form === "json" ? "" : LAYOUT;
  const file = {
    "Content-Disposition": contentDisposition(`compliance-pack-${pack.candidate_id}.${form}`),
    "X-Content-Type-Options": "nosniff",
  };
  return {
    ETag: entityTag(JSON.stringify([form, layout, facts])),
    "Cache-Control": "private, no-cache",
    "Content-Type": MEDIA_TYPES[form],
    Vary: "Accept",
    ...(form === "json" ? {} : file),
  };
}
