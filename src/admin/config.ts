import { describeConfig } from "../config.ts";
import { command } from "./command.ts";

export const configCommands = [
  command({
    words: "config",
    help: "every setting: its value here, its default, what it means",
    run: async (_given, { config }) => ({ object: "list", data: describeConfig(config) }),
  }),
];
