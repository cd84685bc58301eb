// Runs as a separate process. Opens COUNT connections to PORT. Sends its counts to the parent after starting the last
// connection, and on every message. KIND is "used" (sends one request, then nothing) or "slow" (sends a header byte every
// 500 ms). With any other KIND, the connections stay silent.
import { connect } from "node:net";

/** Connections opened at once. Two of these processes together stay below the server's listen backlog of 511. */
const BATCH = 100;

const { PORT, COUNT, KIND, KEY } = process.env;
let open = 0;
let closed = 0;
let answered = 0;
const sockets = [];
while (sockets.length < Number(COUNT)) {
  const size = Math.min(BATCH, Number(COUNT) - sockets.length);
  // A connection is accepted for certain once it is answered. One that is not answered is at least connected or closed.
  await Promise.all(Array.from({ length: size }, openOne));
}
if (KIND === "slow") setInterval(() => sockets.forEach((socket) => socket.writable && socket.write("x")), 500);
process.on("message", () => process.send({ open, closed, answered }));
process.send({ open, closed, answered });

/** Resolves when the connection is answered, or connected if it sends no whole request, or closed. */
function openOne() {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(PORT), host: "127.0.0.1" }, () => {
      open++;
      if (KIND === "used") {
        socket.write(`GET /limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
        return; // until it is answered
      }
      if (KIND === "slow") socket.write("GET /candidates HTTP/1.1\r\nHost: x\r\nX-Slow: ");
      resolve();
    });
    socket
      .on("error", () => undefined)
      .on("close", () => {
        closed++;
        resolve();
      });
    socket.once("data", () => {
      answered++;
      resolve();
    });
    socket.on("data", () => undefined);
    sockets.push(socket);
  });
}
