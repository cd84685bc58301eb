import { networksIn, readUrl, UNREADABLE, withoutCredentials } from "./urls.ts";

interface Setting<T> {
  readonly parse: (text: string) => T;
  readonly fallback: T;
  readonly help: string;
  /** Set if the value is a URL that may hold a password. */
  readonly secret?: true;
}

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const REDIS_FORMS = ["redis:", "rediss:", "redis+sentinel:", "rediss+sentinel:", "redis+cluster:", "rediss+cluster:"];

/** The settings of the process. They are read from the environment and checked at start. */
const SETTINGS = {
  PORT: integer(8080, [0, 65535], "port of the API; 0 picks a free one"),
  HOST: text(
    "::",
    "address that PORT and OPS_PORT listen on; `::` is every address, IPv4 and IPv6 (only IPv4 on a machine without IPv6)",
  ),
  OPS_PORT: integer(
    9090,
    [0, 65535],
    "port of /livez, /readyz, and /metrics for Prometheus: one response for all processes of the API's port; 0 picks a free one",
  ),
  REPLICAS: integer(1, [1, 64], "number of processes that share the port"),
  MONGODB_URL: url(
    ["mongodb:", "mongodb+srv:"],
    "URL of MongoDB; its path names the database, by default `onboarding`; a user that is kept in `admin` needs `?authSource=admin`",
  ),
  REDIS_URL: url(
    REDIS_FORMS,
    "URL of Redis: `redis://host`, `redis+sentinel://h1:p,h2:p/NAME` or `redis+cluster://h1:p,h2:p`; with TLS `rediss://`, `rediss+sentinel://`, `rediss+cluster://`; the Sentinels' own user and password are `?sentinelUsername=…&sentinelPassword=…`",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    ["http:", "https:"],
    "URL of an OpenTelemetry collector that takes traces over HTTP; without it nothing is traced",
  ),
  LOG_LEVEL: oneOf(LOG_LEVELS, "info", "lowest level that is logged"),
  LOG_CLIENT_ADDRESS: oneOf(
    ["truncated", "full"],
    "truncated",
    "how the log shows the address of a client whose request was refused: `truncated` to its /24 (IPv4) or /48 (IPv6), or `full`",
  ),
  AUDIT_LOG: oneOf(
    ["off", "stdout"],
    "off",
    "whether each entry of the audit is also a line of the log, of one replica: `stdout`, or `off`; LOG_LEVEL does not matter",
  ),
  TRUSTED_PROXIES: integer(
    0,
    [0, 10],
    "number of trusted proxies in front, each of which appends an address to X-Forwarded-For",
  ),
  SMTP_URL: url(
    ["smtp:", "smtps:", "file:"],
    "URL of the mail server that reminders are sent through: `smtp://user:password@host:587` or `smtps://user:password@host:465`; smtp:// demands STARTTLS, except on loopback and with `?insecure=true`; `?name=` is the name for EHLO, by default the host of PUBLIC_URL; `file:///folder` writes them to files instead; without it no reminder is sent",
  ),
  MAIL_FROM: text("", "email address that reminders come from; needed with SMTP_URL"),
  PUBLIC_URL: url(
    ["https:", "http:"],
    "URL at which candidates and referees reach this service; the links in reminders begin with it; needed with SMTP_URL",
  ),
  MAIL_PER_MINUTE: integer(120, [1, 100_000], "maximum number of reminders a minute, in all replicas together"),
  MAIL_CONNECTIONS: integer(
    10,
    [1, 50],
    "maximum number of connections to the mail server, each with one reminder at a time",
  ),
  MAIL_PER_ACCOUNT_PER_DAY: integer(2_000, [1, 1_000_000], "maximum number of reminders of one account in a UTC day"),
  MAIL_NEW_ADDRESSES_PER_DAY: integer(
    500,
    [1, 1_000_000],
    "maximum number of reminders of one account in a UTC day to addresses that it has not written to before",
  ),
  MAIL_PER_ADDRESS_PER_DAY: integer(
    5,
    [1, 1_000],
    "maximum number of reminders to one address in a UTC day, of all accounts together",
  ),
  WEBHOOK_PROXY_URL: url(
    ["http:", "https:"],
    "URL of an HTTP proxy that nudges to webhooks go through; it is asked for addresses (CONNECT), which the service has checked; without it they go directly",
  ),
  WEBHOOK_ALLOWED_NETWORKS: {
    fallback: "",
    help: "networks that nudges may go to although they are not public, with http too, as `10.1.0.0/16,fd00::/8`; without it they go to public addresses only, and outside of production to loopback",
    parse(given) {
      networksIn(given);
      return given;
    },
  } as Setting<string>,
  NODE_ENV: text("", "`production`, as in the image, keeps nudges to webhooks from going to loopback"),
  ADMIN_ACTOR: text(
    "",
    "name that the audit records for a command; by default the user who called sudo, else the current user",
  ),
  ADMIN_ACTOR_REQUIRED: oneOf(
    ["true", "false"],
    "false",
    "whether commands that change something need ADMIN_ACTOR; `true` in the image, where every user is `node`",
  ),
  ACTIVE_KEY_CAP: integer(5, [1, 100], "maximum number of active keys of an account"),
  MAX_DOCUMENT_BYTES: integer(25 * 1024 * 1024, [1, 1024 ** 3], "maximum size of a document's content, in bytes"),
  BODY_TIMEOUT_MS: integer(
    30_000,
    [100, 600_000],
    "maximum time to receive a JSON body, and maximum wait for the next bytes of a file, in milliseconds",
  ),
  STORE_TIMEOUT_MS: integer(
    5_000,
    [100, 60_000],
    "maximum time for a MongoDB operation, in milliseconds; then 503 `store_unavailable`",
  ),
  RETENTION_NOTICE_HOURS: integer(
    24,
    [0, 720],
    "minimum time from a change of retention settings, of the candidate by somebody, or from the end of a restore, to an erasure by them, in hours",
  ),
  LIMITER_TIMEOUT_MS: integer(
    100,
    [5, 10_000],
    "maximum time for a decision of the limiter, in milliseconds; then 503 `limiter_unavailable`",
  ),
  LIMITER_ON_OUTAGE: oneOf(
    ["refuse", "local"],
    "refuse",
    "what to do if Redis does not respond: `refuse` with 503, or `local`: after a second without Redis, each replica counts its share (see REPLICAS_EXPECTED) in memory",
  ),
  REPLICAS_EXPECTED: integer(
    1,
    [1, 10_000],
    "highest number of processes that may run in all; LIMITER_ON_OUTAGE=local divides every limit by it",
  ),
  LIMIT_WINDOW_SECONDS: integer(
    3600,
    [1, 86_400],
    "length of a limit window, in seconds; change it for load tests only",
  ),
  LIMIT_SCALE: integer(1, [1, 1_000_000], "factor by which every limit is multiplied; change it for load tests only"),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Config = { readonly [K in SettingName]: (typeof SETTINGS)[K]["fallback"] };

/** Thrown by `readConfig`. The message lists every wrong setting, one per line. */
export class ConfigError extends Error {}

/**
 * Reads the settings from `env`. An empty value counts as not set.
 * @throws {ConfigError} that names every wrong setting and says what it must be.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const faults = new Map<string, string>();
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
    const given = env[name];
    if (given === undefined || given === "") return [name, setting.fallback];
    try {
      return [name, setting.parse(given)];
    } catch (error) {
      faults.set(name, (error as Error).message);
      return [name, setting.fallback];
    }
  });
  const config = Object.fromEntries(entries) as Config;
  for (const [name, fault] of mailFaults(config)) if (!faults.has(name)) faults.set(name, fault);
  if (faults.size > 0) throw new ConfigError(Array.from(faults, ([name, fault]) => `${name}: ${fault}`).join("\n"));
  return config;
}

/** Returns what is wrong with the settings that SMTP_URL needs, each with its name. */
function* mailFaults({ SMTP_URL, MAIL_FROM, PUBLIC_URL }: Config): Generator<[SettingName, string]> {
  if (SMTP_URL === null) return;
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(MAIL_FROM))
    yield ["MAIL_FROM", "must be an email address, for example jobs@example.com, because SMTP_URL is set"];
  if (PUBLIC_URL === null)
    yield ["PUBLIC_URL", "must be set, for example https://hire.example.com, because SMTP_URL is set"];
  else if (new URL(PUBLIC_URL).href !== `${new URL(PUBLIC_URL).origin}/`)
    yield ["PUBLIC_URL", "must have a host and no path, for example https://hire.example.com"];
  if (!URL.canParse(SMTP_URL) || SMTP_URL.startsWith("file:") !== (new URL(SMTP_URL).host === ""))
    yield ["SMTP_URL", "must be a valid URL, for example smtp://user:password@host:587 or file:///folder"];
}

/**
 * Returns the table for `admin config` and the operators' guide. A value or default of `null` means that there is none.
 * Hides the user and password in URLs.
 */
export function describeConfig(config: Config) {
  return Object.entries<Setting<string | number | null>>(SETTINGS).map(([name, { fallback, help, secret }]) => {
    const value = config[name as SettingName];
    const shown = secret && typeof value === "string" ? withoutCredentials(value) : value;
    return { name, value: shown, default: fallback, help };
  });
}

function integer(fallback: number, [min, max]: [number, number], help: string): Setting<number> {
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
      const read = readUrl(given);
      // Of the others, the path or the list of hosts is not what a URL may have.
      if (/^(rediss?|smtps?|https?):/.test(read) && !URL.canParse(read)) throw new Error(UNREADABLE);
      return read;
    },
  };
}
