/** `npm run admin`: the command line, on the servers that `npm start` runs unless MONGODB_URL and REDIS_URL name others. */
import { dataDirOf } from "./data-dir.ts";
import { findServers } from "./servers-file.ts";

const { redisUrl, mongodbUrl } = findServers(dataDirOf(process.env));
if (redisUrl !== undefined) process.env["REDIS_URL"] ||= redisUrl;
if (mongodbUrl !== undefined) process.env["MONGODB_URL"] ||= mongodbUrl;
await import("../admin/main.ts");
