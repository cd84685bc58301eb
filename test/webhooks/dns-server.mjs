// For --import: has this process ask the DNS server of a test.
import { setServers } from "node:dns";

setServers([process.env.TEST_DNS_SERVER]);
