/** `npm run admin`: runs the command line. Uses the servers of `npm start` unless MONGODB_URL and REDIS_URL are set. */
import { dataDirOf } from "./data-dir.ts";
import { findServers } from "./servers-file.ts";

const { redisUrl, mongodbUrl } = findServers(dataDirOf(process.env));
if (redisUrl !== undefined) process.env["REDIS_URL"] ||= redisUrl;
if (mongodbUrl !== undefined) process.env["MONGODB_URL"] ||= mongodbUrl;
await import("../admin/main.ts");
