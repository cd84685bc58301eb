import { describeConfig } from "../config.ts";
import type { AddCommands } from "./command.ts";

export const addConfigCommand: AddCommands = (admin, run) => {
  admin
    .command("config")
    .description("Lists every setting: its value, default and meaning.")
    .action(() => run(({ config }) => Promise.resolve({ object: "list", data: describeConfig(config) })));
};
