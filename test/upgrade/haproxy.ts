import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { freePort } from "../../src/dev/server-process.ts";
import type { Backend } from "../faults/replicas/balancer.ts";
import type { PodTimes } from "./deployment.ts";

/** What HAProxy counted, over all servers. */
export interface Counts {
  /** Connections that a server did not accept. Nothing was sent on them, and another server was tried. */
  readonly refused: number;
  /** Requests that a server left without a whole response. */
  readonly unanswered: number;
  /** 5xx responses of servers. */
  readonly failed: number;
}

const STARTS_WITHIN_MS = 10_000;

/** An HAProxy that shares requests among servers in turn, and checks their readiness as the Deployment's probe does. */
export class HaProxy {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #dir: string;
  readonly #check: string;

  private constructor(child: ChildProcess, port: number, dir: string, check: string) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    this.#dir = dir;
    this.#check = check;
  }

  /**
   * @param keeps whether connections to the servers are kept open for further requests.
   * @throws with what HAProxy printed, if it exits.
   */
  static async start(program: string, { readiness }: PodTimes, keeps: boolean): Promise<HaProxy> {
    const dir = mkdtempSync(join(tmpdir(), "haproxy-"));
    const port = await freePort();
    writeFileSync(join(dir, "haproxy.cfg"), configuration(port, join(dir, "socket"), readiness, keeps));
    const child = spawn(program, ["-db", "-f", join(dir, "haproxy.cfg")], { stdio: ["ignore", "ignore", "pipe"] });
    const errors = text(child.stderr);
    const { everyMs, failures, successes } = readiness;
    const proxy = new HaProxy(child, port, dir, `inter ${everyMs}ms fall ${failures} rise ${successes}`);
    const deadline = performance.now() + STARTS_WITHIN_MS;
    while (
      await proxy.#command("show info").then(
        () => false,
        () => true,
      )
    ) {
      if (performance.now() > deadline) child.kill("SIGKILL"); // what it printed ends with it
      if (child.exitCode !== null || child.signalCode !== null) {
        rmSync(dir, { recursive: true, force: true });
        throw new Error(`HAProxy did not start: ${await errors}`);
      }
      await setTimeout(20);
    }
    return proxy;
  }

  /** Adds a server, which then gets its share of new requests. */
  async add(name: string, { port, opsPort }: Backend): Promise<void> {
    const server = `replicas/${name}`;
    const said = [
      await this.#command(`add server ${server} 127.0.0.1:${port} check port ${opsPort} ${this.#check}`),
      await this.#command(`enable health ${server}`),
      await this.#command(`enable server ${server}`),
    ];
    if (said.join("").trim() !== "New server registered.") throw new Error(`HAProxy: ${said.join("")}`);
  }

  /** Takes a server out: it gets no new request. Those that it works on go on. */
  async remove(name: string): Promise<void> {
    const said = await this.#command(`set server replicas/${name} state maint`);
    if (said.trim() !== "") throw new Error(`HAProxy: ${said}`);
  }

  async counts(): Promise<Counts> {
    const [header = "", ...lines] = (await this.#command("show stat")).replace(/^# /, "").trim().split("\n");
    const names = header.split(",");
    const rows = lines
      .map((line) => new Map(line.split(",").map((value, index) => [names[index], value])))
      .filter((row) => row.get("pxname") === "replicas" && row.get("svname") !== "BACKEND");
    const sum = (name: string) => rows.reduce((total, row) => total + Number(row.get(name) || 0), 0);
    return { refused: sum("wretr") + sum("wredis"), unanswered: sum("eresp"), failed: sum("hrsp_5xx") };
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, "exit");
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGTERM");
      await exited;
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Sends a command to HAProxy's socket. @returns what it replies. */
  async #command(command: string): Promise<string> {
    const socket = connect(join(this.#dir, "socket"));
    await once(socket, "connect");
    socket.end(`${command}\n`);
    return text(socket);
  }
}

function configuration(
  port: number,
  socket: string,
  { path, withinMs }: PodTimes["readiness"],
  keeps: boolean,
): string {
  return `
global
  stats socket ${socket} level admin
  maxconn 1000
defaults
  mode http
  ${keeps ? "option http-keep-alive" : "option http-server-close"}
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check ${withinMs}ms
  # Another server is tried only if a connection was refused, when nothing was sent. No request is sent twice.
  option redispatch 1
  retries 3
  retry-on conn-failure
frontend api
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk
  http-check send meth GET uri ${path} ver HTTP/1.1 hdr Host localhost
  http-check expect status 200
`;
}
