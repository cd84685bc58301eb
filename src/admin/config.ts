import { describeConfig } from "../config.ts";
import { command } from "./command.ts";

export const configCommands = [
  command({
    words: "config",
    help: "lists every setting with its value, its default and its meaning",
    run: async (_given, { config }) => ({ object: "list", data: describeConfig(config) }),
  }),
];
