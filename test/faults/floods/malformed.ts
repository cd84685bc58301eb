/** Requests that no server may take: each is refused or cut off, and nothing after it on the connection is carried out. */

const HEAD = "POST /candidates HTTP/1.1\r\nHost: x\r\n";

/**
 * @param key a good one, so that what is smuggled would be carried out if it were taken for a request.
 * @returns what is wrong with each, and its bytes (Latin-1).
 */
export function malformedRequests(key: string): [string, string][] {
  const auth = `Authorization: Bearer ${key}\r\n`;
  const typed = `${HEAD}${auth}Content-Type: application/json\r\n`;
  /** What would be a request of its own were the body cut elsewhere. */
  const smuggled = `POST /candidates HTTP/1.1\r\nHost: x\r\n${auth}Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{"name":"smuggled"}`;
  const chunked = `Transfer-Encoding: chunked\r\n`;
  return [
    ["a length beside chunks (CL.TE)", `${typed}Content-Length: 4\r\n${chunked}\r\n0\r\n\r\n${smuggled}`],
    ["chunks beside a length (TE.CL)", `${typed}${chunked}Content-Length: 4\r\n\r\n5c\r\n${smuggled}\r\n0\r\n\r\n`],
    ["two lengths", `${typed}Content-Length: 2\r\nContent-Length: 200\r\n\r\n{}${smuggled}`],
    ["two lengths in one field", `${typed}Content-Length: 2, 200\r\n\r\n{}${smuggled}`],
    ["a length with a sign", `${typed}Content-Length: +2\r\n\r\n{}${smuggled}`],
    ["a negative length", `${typed}Content-Length: -2\r\n\r\n{}${smuggled}`],
    ["a hexadecimal length", `${typed}Content-Length: 0x2\r\n\r\n{}${smuggled}`],
    ["a length past 2^64", `${typed}Content-Length: 99999999999999999999\r\n\r\n{}${smuggled}`],
    ["an unknown transfer coding", `${typed}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["chunked not last", `${typed}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a second transfer coding", `${typed}${chunked}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a space before the colon", `${typed}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    [
      "a folded transfer coding",
      `${typed}Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ["a folded header", `${typed}X-Folded: a\r\n b: c\r\nContent-Length : 2\r\n\r\n{}${smuggled}`],
    ["a vertical tab in a field", `${typed}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a NUL in a field", `${typed}X-A: a\x00b\r\nContent-Length: 2\r\n\r\n{}${smuggled}`],
    ["a bare carriage return in a field", `${typed}X-A: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size that is none", `${typed}${chunked}\r\nzz\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size with 0x", `${typed}${chunked}\r\n0x2\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size past 2^64", `${typed}${chunked}\r\n10000000000000002\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk longer than its size", `${typed}${chunked}\r\n1\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["chunks ended by bare line feeds", `${typed}${chunked}\r\n2\n{}\n0\n\n${smuggled}`],
    ["a chunk extension without end", `${typed}${chunked}\r\n2;${"a=b;".repeat(10_000)}\r\n{}\r\n0\r\n\r\n`],
    ["bare line feeds", `${HEAD}${auth}`.replaceAll("\r\n", "\n") + `Content-Length: 2\n\n{}${smuggled}`],
    ["no Host", `${typed.replace("Host: x\r\n", "")}Content-Length: 2\r\n\r\n{}`],
    ["two Hosts", `${typed}Host: y\r\nContent-Length: 2\r\n\r\n{}`],
    ["a method that is none", `MAKE /candidates HTTP/1.1\r\nHost: x\r\n${auth}\r\n`],
    ["CONNECT", `CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n${auth}\r\n`],
    ["HTTP/2's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/0.9", "GET /candidates\r\n\r\n"],
    ["a version that is none", `GET /candidates HTTP/9.9\r\nHost: x\r\n${auth}\r\n`],
    ["a space in the path", `GET /candidates HTTP/1.1 HTTP/1.1\r\nHost: x\r\n${auth}\r\n`],
    ["a path without a slash", `GET candidates HTTP/1.1\r\nHost: x\r\n${auth}Connection: close\r\n\r\n`],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00".repeat(200)],
    ["noise", "\xff\xfe\x00\x01".repeat(500)],
    ["a header without a name", `${typed}: nameless\r\nContent-Length: 2\r\n\r\n{}`],
    ["a header without a colon", `${typed}nonsense\r\nContent-Length: 2\r\n\r\n{}`],
  ];
}
