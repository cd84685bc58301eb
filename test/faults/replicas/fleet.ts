import { isRunning, type Member, type Settings, startMember } from "../../support/processes.ts";
import { openOperators, type Operators } from "../../support/operators.ts";
import { environmentOf, testConfig } from "../../support/service.ts";
import { startBalancer } from "./balancer.ts";

/** Several processes of the service over one database, behind a round-robin balancer. */
export interface Fleet {
  /** The balancer's URL. */
  readonly url: string;
  readonly members: readonly Member[];
  readonly operators: Operators;
  /**
   * Starts one more process, which then gets its share of new connections.
   * @param main the compiled main.js of another version of the service.
   */
  join(main?: string): Promise<Member>;
  stop(): Promise<void>;
}

export interface FleetOptions {
  /** Additional environment variables for each process, in order. */
  environments?: NodeJS.ProcessEnv[];
  /** The compiled main.js of another version of the service. */
  main?: string | undefined;
}

/** Starts `size` processes. */
export async function startFleet(
  size: number,
  settings: Settings = {},
  { environments = [], main: firstMain }: FleetOptions = {},
): Promise<Fleet> {
  // All processes share one database, so its random name is generated only once.
  const config = testConfig(settings);
  const members: Member[] = [];
  const balancer = await startBalancer(() => members.filter(({ child }) => isRunning(child)));
  const join = async (main?: string, environment: NodeJS.ProcessEnv = {}): Promise<Member> => {
    const member = await startMember({ ...environmentOf(config), ...environment }, main);
    members.push(member);
    return member;
  };
  try {
    await Promise.all(Array.from({ length: size }, (_, index) => join(firstMain, environments[index])));
  } catch (error) {
    await Promise.all(members.map((member) => member.end("SIGKILL")));
    balancer.close();
    throw error;
  }
  const operators = await openOperators(config);
  return {
    url: balancer.url,
    members,
    operators,
    join: (main) => join(main),
    async stop() {
      balancer.close();
      await Promise.all(members.map((member) => member.end("SIGTERM")));
      await operators.mongo.db.dropDatabase();
      await operators.close();
    },
  };
}
