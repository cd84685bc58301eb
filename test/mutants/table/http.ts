import type { Mutant } from "../mutant.ts";

/** What protects the rest of the transport: preconditions, headers, problems, connections. */
export const httpMutants: Mutant[] = [
  {
    file: "src/http/upload.ts",
    before: "  refuseEncoding(req);\n  if (mediaTypeOf",
    after: "  if (mediaTypeOf",
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/http/upload.ts",
    before: 'if (mediaTypeOf(req) === "multipart/form-data") {',
    after: 'if (mediaTypeOf(req) === "none") {',
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/http/upload.ts",
    before: "if (!isMediaType(text))\n",
    after: 'if (text === "\\n")\n',
    red: ["test/documents/put-content.test.ts"],
  },
  {
    file: "src/http/upload.ts",
    before: "[sorted, file === undefined ? null : [file.sha256, file.filename, file.contentType]]",
    after: "[sorted]",
    red: ["test/idempotency/scope.test.ts"],
  },
  {
    file: "src/http/upload.ts",
    before: "[sorted, file === undefined ? null : [file.sha256, file.filename, file.contentType]]",
    after: "[file === undefined ? null : [file.sha256, file.filename, file.contentType]]",
    red: ["test/idempotency/scope.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: "if (header === undefined) return () => undefined;",
    after: 'if (header !== "") return () => undefined;',
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: 'if (header.trim() === "*") return;',
    after: "",
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: "const listed = tagsIn(header.replaceAll(/\\.[\\w-]+\"/g, '\"'));",
    after: 'const listed = tagsIn(header.replaceAll(/\\.[\\w-]+"/g, \'"\')).map((each) => each.replace("W/", ""));',
    red: ["test/candidates/update.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: "tagsIn(header.replaceAll(/\\.[\\w-]+\"/g, '\"'));",
    after: "tagsIn(header);",
    red: ["test/http/compression.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: " || tags.includes(plainTag(tag)))) return;",
    after: ")) return;",
    red: ["test/http/compression.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: 'if (list.trim() === "*") return tag;',
    after: "",
    red: ["test/http/entity-tags.test.ts"],
  },
  {
    file: "src/http/entity-tags.ts",
    before: 'codingsFor(headers["accept-encoding"]).map(',
    after: '(["br", "gzip", "identity"] as const).map(',
    red: ["test/http/compression.test.ts"],
  },
  { file: "src/http/request.ts", before: "if (hosts > 1 ||", after: "if (", red: ["test/http/host.test.ts"] },
  {
    file: "src/http/request.ts",
    before: '(hosts === 0 && httpVersion === "1.1")',
    after: "false",
    red: ["test/http/host.test.ts"],
  },
  {
    file: "src/http/request.ts",
    before: "/^[\\w.:+/=-]{1,128}$/.test(given)",
    after: "/^[\\w.:+/=-]{1,1280}$/.test(given)",
    red: ["test/http/host.test.ts"],
  },
  {
    file: "src/http/request.ts",
    before: 'typeof given === "string" && /^[\\w.:+/=-]{1,128}$/.test(given) ? given',
    after: 'typeof given === "string" ? given',
    red: ["test/api/input.test.ts"],
  },
  { file: "src/http/request.ts", before: "headers: { Allow: allow },", after: "", red: ["test/api/input.test.ts"] },
  {
    file: "src/http/problem.ts",
    before: '  res.removeHeader("ETag");\n',
    after: "",
    red: [],
    equal: "Headers are set only after the first bytes were read. What can fail later is the compression alone.",
  },
  {
    file: "src/http/problem.ts",
    before: "if (refused.status >= 500) ctx.state.failure",
    after: "if (refused.status >= 600) ctx.state.failure",
    red: ["test/documents/download.test.ts"],
  },
  {
    file: "src/http/client-error.ts",
    before: 'HPE_HEADER_OVERFLOW: ["headers_too_large"',
    after: 'HPE_OTHER: ["headers_too_large"',
    red: ["test/api/input.test.ts"],
  },
  {
    file: "src/http/answer.ts",
    before: '"Cache-Control": "private, no-cache",',
    after: "",
    red: ["test/candidates/read.test.ts"],
  },
  {
    file: "src/http/lingering-close.ts",
    before: "    if (!hasBody(req)) return;\n",
    after: "    if (hasBody(req) || true) return;\n",
    red: ["test/http/lingering-close.test.ts"],
  },
  {
    file: "src/app.ts",
    before: "if (!req.socket.writable) return;",
    after: "",
    red: ["test/http/lingering-close.test.ts"],
  },
];
