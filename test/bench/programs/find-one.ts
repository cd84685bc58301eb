/** Koa, the cheapest script, and one findOne by the driver: what a GET of a candidate has to cost. */
import Router from "@koa/router";
import { Redis } from "ioredis";
import Koa from "koa";
import { type Document, MongoClient } from "mongodb";
import { bareLimiter } from "./bare.ts";
import { readSettings, serve } from "./serve.ts";

const settings = readSettings();
const mongo = await new MongoClient(settings.mongodbUrl).connect();
const candidates = mongo.db().collection<Document & { _id: string }>("candidates");
/** What only the list reads. The service's own GET leaves the row out too. */
const OF_THE_LIST = { row: 0, row_form: 0, row_version: 0 };
const router = new Router();
router.get("/candidates/:id", bareLimiter(new Redis(settings.redisUrl), settings), async (ctx) => {
  const asked = { _id: ctx.params["id"] ?? "", account: ctx.get("x-account") };
  ctx.body = await candidates.findOne(asked, { projection: OF_THE_LIST });
});
const handle = new Koa().use(router.routes()).callback();
await serve((req, res) => void handle(req, res));
