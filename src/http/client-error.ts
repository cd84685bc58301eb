import { type Server, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { loggedAddress } from "../infra/address.ts";
import type { NewId } from "../infra/ids.ts";
import { type ProblemCode, PROBLEMS, refusal } from "../problems.ts";
import type { boundConnections, Log } from "./connections.ts";
import { problemDocument } from "./problem.ts";

const REASONS: Record<string, [ProblemCode, string]> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The request headers are larger than 16 KiB. Send fewer or shorter ones."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request did not arrive completely in time. Send it again."],
};

interface RefusalOptions {
  connections: ReturnType<typeof boundConnections>;
  newId: NewId;
  log: Log;
  /** LOG_CLIENT_ADDRESS */
  address: "truncated" | "full";
}

/**
 * Responds to requests that Node's HTTP parser rejects: writes problem+json to the socket, then closes the connection. If
 * an earlier request on the connection is still being handled, its response is completed first. If the parser rejects
 * the body of a request that is already being handled, the refusal could land inside a response: its own once its
 * headers are sent, or one that is still due to an earlier request. In these two cases the connection is cut without a
 * refusal.
 */
export function refuseMalformed(server: Server, options: RefusalOptions): void {
  server.on("clientError", (error, socket) => {
    const open = options.connections.openOn(socket);
    const last = open.at(-1);
    if (last?.req.complete) last.once("close", () => refuse(error, socket, options));
    else if (last?.headersSent || open.length > 1) socket.destroy();
    else refuse(error, socket, options);
  });
}

function refuse(error: NodeJS.ErrnoException, socket: Duplex, { newId, log, address }: RefusalOptions): void {
  if (!socket.writable) return void socket.destroy();
  const [code, detail] = REASONS[error.code ?? ""] ?? [
    "malformed_request",
    "The request is not valid HTTP/1.1. Send it as RFC 9112 defines.",
  ];
  const { status } = PROBLEMS[code];
  const requestId = newId("req");
  const body = problemDocument(refusal(code, detail), requestId);
  const client_address = socket instanceof Socket ? loggedAddress(socket.remoteAddress, address) : undefined;
  log.info({ request_id: requestId, status, code, client_address }, "request rejected by the HTTP parser");
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "Content-Type: application/problem+json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
