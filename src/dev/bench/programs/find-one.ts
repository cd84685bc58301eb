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
const router = new Router();
router.get("/candidates/:id", bareLimiter(new Redis(settings.redisUrl), settings), async (ctx) => {
  ctx.body = await candidates.findOne({ _id: ctx.params["id"] ?? "", account: ctx.get("x-account") });
});
const handle = new Koa().use(router.routes()).callback();
await serve((req, res) => void handle(req, res));
