/** Parses and writes a page again and again: JSON.parse and JSON.stringify, and nothing else. */
import { readFileSync } from "node:fs";
import { cpuUsage } from "node:process";

const page = readFileSync(process.argv[2] ?? "", "utf8");

process.on("disconnect", () => process.exit());
process.on("message", ({ seconds }: { seconds: number }) => {
  const before = cpuUsage();
  const end = performance.now() + seconds * 1000;
  let count = 0;
  let length = 0;
  for (; performance.now() < end; count++) length += JSON.stringify(JSON.parse(page)).length;
  const { user, system } = cpuUsage(before);
  if (length === 0) throw new Error("The page is empty.");
  process.send?.({ result: { server: (user + system) / count } });
});
process.send?.({ type: "ready" });
