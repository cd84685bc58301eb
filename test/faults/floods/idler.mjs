// Runs as a separate process. Opens COUNT connections to PORT. Sends its counts to the parent after starting the last
// connection, and on every message. KIND is "used" (sends one request, then nothing) or "slow" (sends a header byte every
// 500 ms). With any other KIND, the connections stay silent.
import { connect } from "node:net";

const { PORT, COUNT, KIND, KEY } = process.env;
let open = 0;
let closed = 0;
let answered = 0;
const sockets = [];
for (let n = 0; n < Number(COUNT); n++) {
  // Pause after every 100 connections, so that the listen backlog does not overflow.
  if (n % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20));
  const socket = connect({ port: Number(PORT), host: "127.0.0.1" }, () => {
    open++;
    if (KIND === "used") socket.write(`GET /limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
    if (KIND === "slow") socket.write("GET /candidates HTTP/1.1\r\nHost: x\r\nX-Slow: ");
  });
  socket.on("error", () => undefined).on("close", () => closed++);
  socket.once("data", () => answered++);
  socket.on("data", () => undefined);
  sockets.push(socket);
}
if (KIND === "slow") setInterval(() => sockets.forEach((socket) => socket.writable && socket.write("x")), 500);
process.on("message", () => process.send({ open, closed, answered }));
process.send({ open, closed, answered });
