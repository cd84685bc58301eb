import type { Command } from "@commander-js/extra-typings";
import { describeConfig } from "../config.ts";
import type { Run } from "./command.ts";

export function addConfigCommand(admin: Command, run: Run): void {
  admin
    .command("config")
    .description("Lists every setting: its value, default and meaning.")
    .action(() => run(({ config }) => Promise.resolve({ object: "list", data: describeConfig(config) })));
}
