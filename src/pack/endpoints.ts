import { Readable } from "node:stream";
import contentDisposition from "content-disposition";
import { CandidatePath } from "../candidates/schema.ts";
import { endpoint } from "../api/endpoint.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import { BinaryResponse, jsonText } from "../http/response.ts";
import { negotiate } from "../http/negotiate.ts";
import { problem } from "../problems.ts";
import { FORMATS, type Format, Pack, PackQuery } from "./schema.ts";
import type { PackService } from "./service.ts";
import { LAYOUT } from "./template.ts";
import { typeset } from "./typeset.ts";

const MEDIA_TYPES = { json: "application/json", pdf: "application/pdf", zip: "application/zip" };

/** Maximum number of messages that the PDF shows: the latest. */
const MAX_MESSAGES = 500;

/** The endpoint of the compliance pack. Every format is charged as one request. */
export function packEndpoints(packs: PackService) {
  return {
    read: endpoint({
      name: "readPack",
      tag: "Pack",
      summary: "Read the compliance pack, as JSON, as a PDF, or as a ZIP with the documents",
      description:
        "Returns the pack in the format that the query or Accept asks for. Each format has an ETag of its own.",
      params: CandidatePath,
      query: PackQuery,
      response: Pack,
      binary: [MEDIA_TYPES.pdf, MEDIA_TYPES.zip],
      audited: ({ id }) => ({ action: "pack.read", candidate: id, subject: id }),
      problems: ["not_found", "invalid_query", "not_acceptable", "pack_unavailable"],
      async handle({ caller, params, query, header, clientHas, clientLeft }) {
        const format = query.format ?? preferredFormat(header("accept"));
        const read = await packs.read(caller.accountId, params.id);
        const headers = await headersOf(read.pack, format);
        if (clientHas(headers.ETag)) return new BinaryResponse(304, headers);
        if (format === "json") return new BinaryResponse(200, headers, await jsonBytes(read.pack));
        const history = read.pack.history.filter(({ action }) => action === "reminder_sent").slice(0, MAX_MESSAGES);
        // Made before the response begins: until then, a failure can become a problem.
        const pdf = await typeset(await jsonBytes({ ...read.pack, history }), {
          accountId: caller.accountId,
          left: clientLeft(),
        });
        if (format === "pdf")
          return new BinaryResponse(200, { ...headers, "Content-Length": String(pdf.length) }, Readable.from([pdf]));
        return new BinaryResponse(200, headers, packs.zip(caller, read, pdf));
      },
    }),
  };
}

/** Returns the format that Accept prefers (RFC 9110, 12.5.1), or JSON if it prefers none. @throws problem not_acceptable */
function preferredFormat(accept: string | undefined): Format {
  const types = Object.values(MEDIA_TYPES);
  const [best] = negotiate("accept", accept, types);
  const format = FORMATS.find((each) => MEDIA_TYPES[each] === best);
  if (format !== undefined) return format;
  const detail = `The pack has none of the types in Accept. Send ${types.join(", ")} or */* in Accept, or set ?format=.`;
  throw problem("not_acceptable", detail);
}

/**
 * Returns the headers of a pack. The ETag covers everything that the pack shows except the time it was generated: a
 * client with an older copy of the same facts in the same format needs no new one. Responses with the same tag
 * differ only in that time.
 */
async function headersOf(pack: Pack, format: Format) {
  const { generated_at: _, ...facts } = pack;
  const layout = format === "json" ? "" : LAYOUT;
  const name = `compliance-pack-${pack.candidate_id}.${format}`;
  const file = { "Content-Disposition": contentDisposition(name), "X-Content-Type-Options": "nosniff" };
  return {
    ETag: (await jsonText([format, layout, facts])).tag,
    "Cache-Control": "private, no-cache",
    "Content-Type": MEDIA_TYPES[format],
    Vary: format === "json" ? "Accept, Accept-Encoding" : "Accept",
    ...(format === "json" ? {} : file),
  };
}
