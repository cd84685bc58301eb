/** The address of Redis, read from one of the forms of REDIS_URL. */
export type RedisAddress = ReturnType<typeof parseRedisUrl>;

const LIST =
  /^redis(?<s>s?)\+(?<form>sentinel|cluster):\/\/(?:(?<user>[^@/]*)@)?(?<hosts>[^/?#@]+)(?:\/(?<name>[^/?#]+)(?:\/(?<db>\d+))?)?\/?(?:\?(?<query>[^#]*))?$/;

/**
 * Parses REDIS_URL: `redis://`, `redis+sentinel://h1:p,h2:p/NAME[/db]` or `redis+cluster://h1:p,h2:p`, or these with TLS
 * (`rediss…`). The user and password are those of the Redis servers; the Sentinels' own are in the query.
 * @throws {Error} that lists the allowed forms. It never repeats the URL, which may hold a password.
 */
export function parseRedisUrl(url: string) {
  if (/^rediss?:\/\//.test(url)) return { form: "standalone", url } as const;
  const { form, s, user, hosts, name, db, query } = LIST.exec(url)?.groups ?? {};
  const tls = s === "s";
  const credentials = user === undefined ? {} : parseCredentials(user);
  if (form === "sentinel" && hosts !== undefined && name !== undefined)
    return {
      form,
      tls,
      sentinels: parseHosts(hosts, 26379),
      name: decodeURIComponent(name),
      db: Number(db ?? 0),
      credentials,
      sentinelCredentials: parseSentinelCredentials(query),
    } as const;
  if (form === "cluster" && hosts !== undefined && name === undefined && query === undefined)
    return { form, tls, nodes: parseHosts(hosts, 6379), credentials } as const;
  throw wrongForm();
}

function wrongForm(): Error {
  return new Error(
    "REDIS_URL must be redis://…, rediss://…, redis+sentinel://host:port,host:port/NAME or redis+cluster://host:port,host:port, with TLS rediss+sentinel://… or rediss+cluster://…",
  );
}

function parseHosts(hosts: string, defaultPort: number) {
  return hosts.split(",").map((entry) => {
    if (!URL.canParse(`redis://${entry}`)) throw wrongForm();
    const { hostname, port } = new URL(`redis://${entry}`);
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port === "" ? defaultPort : port) };
  });
}

function parseCredentials(user: string): { username?: string; password?: string } {
  const [username = "", ...password] = user.split(":").map(decodeURIComponent);
  return { ...(username !== "" && { username }), ...(password.length > 0 && { password: password.join(":") }) };
}

/** @throws {Error} if the query has any other parameter. It may be misspelt, and does not repeat its value. */
function parseSentinelCredentials(query = ""): { sentinelUsername?: string; sentinelPassword?: string } {
  // Not URLSearchParams: it would read a plus sign in a password as a space.
  const given = query === "" ? [] : query.split("&").map((parameter) => parameter.split(/=([^]*)/, 2));
  if (given.some(([name]) => name !== "sentinelUsername" && name !== "sentinelPassword"))
    throw new Error(
      "REDIS_URL takes only the query parameters sentinelUsername and sentinelPassword. Percent-encode & in them as %26.",
    );
  return Object.fromEntries(given.map(([name, value = ""]) => [name, decodeURIComponent(value)]));
}
