import { availableParallelism } from "node:os";
import type { Servers } from "../src/dev/servers.ts";

/** What a suite needs beside the packages, Redis and MongoDB. */
export interface SetUpContext {
  /** The servers of this run; undefined if the suite does without them. */
  readonly urls: Pick<Servers, "redisUrl" | "mongodbUrl"> | undefined;
  /** A folder of this run, removed at its end. */
  readonly temporary: string;
  /** The first argument that is no file: for `test:upgrade`, the version to start from. */
  readonly subject: string | undefined;
  readonly signal: AbortSignal;
}

/** What the tests find in their environment, or why the suite is skipped. */
export interface Ready {
  readonly env?: NodeJS.ProcessEnv;
  readonly skipped?: string;
  readonly tearDown?: () => Promise<void>;
}

export type SetUp = (context: SetUpContext) => Promise<Ready>;

export interface Suite {
  /** Files or patterns for mocha. By default all tests in the folder that has the suite's name. */
  readonly files?: readonly string[];
  /** Options of mocha. */
  readonly options?: readonly string[];
  /** A program to run instead of mocha, with the arguments. */
  readonly program?: string;
  /** Programs that must be on the PATH, and the Debian packages that have them. Without them the suite is skipped. */
  readonly needs?: { readonly programs: readonly string[]; readonly debian: string };
  /** False if the suite does without the Redis and the MongoDB that are started for each run. */
  readonly servers?: false;
  /** Variables that `--full` sets: the large form of the suite. */
  readonly full?: NodeJS.ProcessEnv;
  /** The module whose `setUp` runs before the tests. */
  readonly setUp?: () => Promise<{ readonly setUp: SetUp }>;
  /** True if the first argument may be something else than a file. */
  readonly takesSubject?: true;
}

/** The tests disturb each other. `--exit` ends mocha even if a test that timed out is still working. */
const ONE_BY_ONE = ["--no-parallel", "--exit"];

const JAVA = { programs: ["java", "javac"], debian: "default-jdk-headless maven" };

const model = () => import("./model/set-up.ts");

const PROCESSES = "test/**/*.processes.test.ts";
const QUIET = "test/**/*.quiet.test.ts";

/** All suites, by name: `npm test` runs the first, `npm run test:NAME` each other one. */
export const SUITES: Readonly<Record<string, Suite>> = {
  test: { files: ["test/**/*.test.ts"], options: ["--parallel", "--jobs", `${availableParallelism() + 1}`] },
  processes: { files: [PROCESSES], options: ["--parallel", "--jobs", "2"] },
  exactness: { options: ["--no-parallel"], full: { EXACTNESS_FULL: "1" } },
  faults: {
    options: [...ONE_BY_ONE, "--ignore", "test/faults/soak/**", "--ignore", QUIET],
    full: { NUDGE_KILLS_SECONDS: "600" },
  },
  quiet: { files: [QUIET], options: ONE_BY_ONE }, // they measure, so nothing else may run
  soak: { files: ["test/faults/soak/**/*.test.ts"], options: ONE_BY_ONE },
  model: { options: ["--no-parallel"], setUp: model },
  k8s: {
    options: ["--timeout", "180000"], // the validator reads all of its schemas for each object, which takes 20 s
    servers: false,
    setUp: () => import("./k8s/set-up.ts"),
  },
  load: {
    options: ONE_BY_ONE,
    setUp: () => import("./load/set-up.ts"),
  },
  monitoring: {
    options: ["--parallel", "--jobs", "3", "--timeout", "120000"], // they mostly wait
    needs: { programs: ["prometheus", "promtool"], debian: "prometheus" },
  },
  upgrade: {
    options: ONE_BY_ONE,
    takesSubject: true,
    setUp: () => import("./upgrade/set-up.ts"),
  },
  containers: {
    options: [...ONE_BY_ONE, "--require", "test/containers/support/image.ts"], // which builds the image before all tests
    needs: {
      programs: ["podman", "docker-compose", "ip"],
      debian: "podman runc netavark aardvark-dns iptables iproute2 catatonit docker-compose mmdebstrap",
    },
    servers: false,
    full: { CONTAINERS_FULL: "1" },
    setUp: () => import("./containers/support/set-up.ts"),
  },
  browser: { options: ["--timeout", "120000"], setUp: () => import("./browser/set-up.ts") },
  pdf: {
    needs: JAVA,
    servers: false,
    setUp: () => import("./pdf/set-up.ts"),
  },
  mirrors: {
    // The examples in Python and in TypeScript are tested together.
    files: [
      "test/mirrors/**/*.test.ts",
      "test/client/examples.processes.test.ts",
      "test/client/push.processes.test.ts",
      "test/client/receivers.processes.test.ts",
    ],
    options: ["--no-parallel", "--timeout", "180000"],
    setUp: () => import("./mirrors/set-up.ts"),
  },
  clients: {
    options: ["--timeout", "240000"],
    setUp: () => import("./clients/set-up.ts"),
  },
};

/** Programs beside the suites that run against the same servers: `npm run NAME`. */
export const PROGRAMS: Readonly<Record<string, Suite>> = {
  "model-check": { program: "test/model/main.ts", setUp: model },
};

/** The folders of the other suites. `npm test` leaves them out. */
export const OTHER_FOLDERS: readonly string[] = Object.keys(SUITES)
  .filter((name) => !["test", "processes", "quiet", "soak"].includes(name))
  .map((name) => `test/${name}`);

/** The files of the suites that have no folder of their own. `npm test` leaves them out too. */
export const OTHER_FILES: readonly string[] = [PROCESSES, QUIET];
