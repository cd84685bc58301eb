/** Requests that no server may accept: it refuses them or closes the connection, and executes nothing that follows. */

const HEAD = "POST /candidates HTTP/1.1\r\nHost: x\r\n";

/**
 * @param key a valid API key, so that a smuggled request would succeed if the server read it as a request.
 * @returns for each request what is wrong with it, and its bytes (Latin-1).
 */
export function malformedRequests(key: string): [string, string][] {
  const auth = `Authorization: Bearer ${key}\r\n`;
  const typed = `${HEAD}${auth}Content-Type: application/json\r\n`;
  /** The server reads this as a second request if it ends the preceding body too early. */
  const smuggled = `POST /candidates HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"name":"smuggled"}`;
  const chunked = `Transfer-Encoding: chunked\r\n`;
  return [
    [
      "a Content-Length before a Transfer-Encoding (CL.TE)",
      `${typed}Content-Length: 4\r\n${chunked}\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      "a Transfer-Encoding before a Content-Length (TE.CL)",
      `${typed}${chunked}Content-Length: 4\r\n\r\n5c\r\n${smuggled}\r\n0\r\n\r\n`,
    ],
    ["two Content-Length headers", `${typed}Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}${smuggled}`],
    ["two lengths in one Content-Length header", `${typed}Content-Length: 2, 200\r\n\r\n{}${smuggled}`],
    ["a Content-Length with a sign", `${typed}Content-Length: +2\r\n\r\n{}${smuggled}`],
    ["a negative Content-Length", `${typed}Content-Length: -2\r\n\r\n{}${smuggled}`],
    ["a hexadecimal Content-Length", `${typed}Content-Length: 0x2\r\n\r\n{}${smuggled}`],
    ["a Content-Length above 2^64", `${typed}Content-Length: 99999999999999999999\r\n\r\n{}${smuggled}`],
    ["an unknown transfer coding", `${typed}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a transfer coding after chunked", `${typed}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a second Transfer-Encoding header", `${typed}${chunked}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a space before a header's colon", `${typed}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    [
      "a folded Transfer-Encoding header",
      `${typed}Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ["a folded header", `${typed}X-Folded: a\r\n b: c\r\nContent-Length : 2\r\n\r\n{}${smuggled}`],
    ["a vertical tab in a header", `${typed}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a NUL in a header", `${typed}X-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}${smuggled}`],
    ["a bare carriage return in a header", `${typed}X-A: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["an invalid chunk size", `${typed}${chunked}\r\nzz\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size with 0x", `${typed}${chunked}\r\n0x2\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size above 2^64", `${typed}${chunked}\r\n10000000000000002\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk longer than its size", `${typed}${chunked}\r\n1\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["chunks ended by bare line feeds", `${typed}${chunked}\r\n2\n{}\n0\n\n${smuggled}`],
    ["a chunk extension of 40 kB", `${typed}${chunked}\r\n2;${"a=b;".repeat(10_000)}\r\n{}\r\n0\r\n\r\n`],
    ["bare line feeds", `${HEAD}${auth}`.replaceAll("\r\n", "\n") + `Content-Length: 2\n\n{}${smuggled}`],
    ["no Host header", `${typed.replace("Host: x\r\n", "")}Content-Length: 2\r\n\r\n{}`],
    ["two Host headers", `${typed}Host: y\r\nContent-Length: 2\r\n\r\n{}`],
    ["an unknown method", `MAKE /candidates HTTP/1.1\r\nHost: x\r\n${auth}\r\n`],
    ["CONNECT", `CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n${auth}\r\n`],
    ["HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/0.9", "GET /candidates\r\n\r\n"],
    ["an unknown HTTP version", `GET /candidates HTTP/9.9\r\nHost: x\r\n${auth}\r\n`],
    ["a space in the path", `GET /candidates HTTP/1.1 HTTP/1.1\r\nHost: x\r\n${auth}\r\n`],
    ["a path without a slash", `GET candidates HTTP/1.1\r\nHost: x\r\n${auth}Connection: close\r\n\r\n`],
    ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00".repeat(200)],
    ["binary noise", "\xff\xfe\x00\x01".repeat(500)],
    ["a header without a name", `${typed}: nameless\r\nContent-Length: 2\r\n\r\n{}`],
    ["a header without a colon", `${typed}nonsense\r\nContent-Length: 2\r\n\r\n{}`],
  ];
}
