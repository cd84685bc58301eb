/** The address of Redis, read from one of the forms of REDIS_URL. */
export type RedisAddress =
  | { form: "standalone"; url: string }
  | { form: "sentinel"; sentinels: Endpoint[]; name: string; db: number; credentials: Credentials }
  | { form: "cluster"; nodes: Endpoint[]; credentials: Credentials };

interface Endpoint {
  host: string;
  port: number;
}

interface Credentials {
  username?: string;
  password?: string;
}

const LIST =
  /^redis\+(?<form>sentinel|cluster):\/\/(?:(?<user>[^@/]*)@)?(?<hosts>[^/?#@]+)(?:\/(?<name>[^/?#]+)(?:\/(?<db>\d+))?)?\/?$/;

/**
 * Parses REDIS_URL: `redis://`, `rediss://`, `redis+sentinel://h1:p,h2:p/NAME[/db]` or `redis+cluster://h1:p,h2:p`. In
 * the last two, the user and password are those of the Redis servers, not of Sentinel. The default port is 26379 for
 * Sentinel and 6379 otherwise.
 * @throws {Error} that lists the allowed forms. It never repeats the URL, which may hold a password.
 */
export function parseRedisUrl(url: string): RedisAddress {
  if (/^rediss?:\/\//.test(url)) return { form: "standalone", url };
  const { form, user, hosts, name, db } = LIST.exec(url)?.groups ?? {};
  const credentials = user === undefined ? {} : parseCredentials(user);
  if (form === "sentinel" && hosts !== undefined && name !== undefined) {
    return {
      form,
      sentinels: parseHosts(hosts, 26379),
      name: decodeURIComponent(name),
      db: Number(db ?? 0),
      credentials,
    };
  }
  if (form === "cluster" && hosts !== undefined && name === undefined) {
    return { form, nodes: parseHosts(hosts, 6379), credentials };
  }
  throw new Error(
    "REDIS_URL must be redis://…, rediss://…, redis+sentinel://host:port,host:port/NAME or redis+cluster://host:port,host:port",
  );
}

function parseHosts(hosts: string, defaultPort: number): Endpoint[] {
  return hosts.split(",").map((entry) => {
    const { hostname, port } = new URL(`redis://${entry}`);
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port === "" ? defaultPort : port) };
  });
}

function parseCredentials(user: string): Credentials {
  const [username = "", password] = user.split(":").map(decodeURIComponent);
  return { ...(username !== "" && { username }), ...(password !== undefined && { password }) };
}
