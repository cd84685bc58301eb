/** The settings of the process: one table, read from the environment, checked at start. */

interface Setting<T> {
  readonly parse: (text: string) => T;
  readonly fallback: T;
  readonly help: string;
  /** A value that may hold a password: `describeConfig` hides its user information. */
  readonly secret?: true;
}

const LIMITER_ON_OUTAGE = ["refuse", "local"] as const;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const REDIS_FORMS = ["redis:", "rediss:", "redis+sentinel:", "redis+cluster:"];

const SETTINGS = {
  PORT: integer(8080, 0, 65535, "port of the API; 0 takes a free one"),
  HOST: text("0.0.0.0", "address the API listens on"),
  OPS_PORT: integer(9090, 0, 65535, "port of /livez and /readyz; 0 takes a free one"),
  REPLICAS: integer(1, 1, 64, "processes sharing the port"),
  MONGODB_URL: url(
    ["mongodb:", "mongodb+srv:"],
    "where MongoDB is; the database is its path, `onboarding` without one",
  ),
  REDIS_URL: url(
    REDIS_FORMS,
    "where Redis is: redis://, rediss://, redis+sentinel://h1:p,h2:p/NAME or redis+cluster://h1:p,h2:p",
  ),
  LOG_LEVEL: oneOf(LOG_LEVELS, "info", "least severe log line that is written"),
  TRUSTED_PROXIES: integer(0, 0, 10, "hops of X-Forwarded-For to believe"),
  ADMIN_ACTOR: text("", "who the audit says gave a command; the operating system's user unless set"),
  ACTIVE_KEY_CAP: integer(5, 1, 100, "active keys an account may hold"),
  MAX_DOCUMENT_BYTES: integer(25 * 1024 * 1024, 1, 1024 ** 3, "largest document content, in bytes"),
  BODY_TIMEOUT_MS: integer(
    30_000,
    100,
    600_000,
    "longest a JSON body may take, and the longest wait for the next bytes of a file",
  ),
  STORE_TIMEOUT_MS: integer(5_000, 100, 60_000, "longest a MongoDB operation may take before 503 store_unavailable"),
  LIMITER_TIMEOUT_MS: integer(100, 5, 10_000, "longest the limiter may take before 503 limiter_unavailable"),
  LIMITER_ON_OUTAGE: oneOf(
    LIMITER_ON_OUTAGE,
    "refuse",
    "Redis gone: `refuse` with 503, or `local`: each replica counts its share in memory",
  ),
  REPLICAS_EXPECTED: integer(1, 1, 10_000, "replicas in all, for the share of LIMITER_ON_OUTAGE=local"),
  KEY_CACHE_SECONDS: integer(60, 1, 60, "how long a replica takes a key for good without looking it up again"),
  LIMIT_WINDOW_SECONDS: integer(3600, 1, 86_400, "length of a limit window; other than 3600 is for load tests only"),
  LIMIT_SCALE: integer(1, 1, 1_000_000, "factor on every limit; other than 1 is for load tests only"),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Config = { readonly [K in SettingName]: (typeof SETTINGS)[K]["fallback"] };

/** Thrown by `readConfig` with every fault of the environment, one a line. */
export class ConfigError extends Error {}

/**
 * Reads the settings from `env`; an empty value counts as not set.
 * @throws {ConfigError} naming every setting that is wrong, and what would be right.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const faults: string[] = [];
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
    const given = env[name];
    if (given === undefined || given === "") return [name, setting.fallback];
    try {
      return [name, setting.parse(given)];
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`);
      return [name, setting.fallback];
    }
  });
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  return Object.fromEntries(entries) as Config;
}

/** The table as rows for `admin config`: name, value in force, default and meaning; passwords in URLs are hidden. */
export function describeConfig(config: Config): { name: string; value: unknown; default: unknown; help: string }[] {
  return Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
    const value = config[name as SettingName];
    return {
      name,
      value: setting.secret && typeof value === "string" ? value.replace(/\/\/[^@/]*@/, "//…@") : value,
      default: setting.fallback,
      help: setting.help,
    };
  });
}

function integer(fallback: number, min: number, max: number, help: string): Setting<number> {
  return {
    fallback,
    help: `${help} (${min}-${max})`,
    parse(given) {
      const value = /^\d+$/.test(given) ? Number(given) : NaN;
      if (!(value >= min && value <= max))
        throw new Error(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(given)}`);
      return value;
    },
  };
}

function text(fallback: string, help: string): Setting<string> {
  return { fallback, help, parse: (given) => given };
}

function oneOf<const T extends string>(values: readonly T[], fallback: NoInfer<T>, help: string): Setting<T> {
  return {
    fallback,
    help: `${help} (${values.join(", ")})`,
    parse(given) {
      const value = values.find((candidate) => candidate === given);
      if (value === undefined) throw new Error(`must be one of ${values.join(", ")}, not ${JSON.stringify(given)}`);
      return value;
    },
  };
}

function url(protocols: string[], help: string): Setting<string | null> {
  return {
    fallback: null,
    help,
    secret: true,
    parse(given) {
      if (!protocols.some((protocol) => given.startsWith(`${protocol}//`))) {
        throw new Error(`must begin with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`);
      }
      return given;
    },
  };
}
