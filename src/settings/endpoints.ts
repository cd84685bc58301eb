import { endpoint } from "../api/endpoint.ts";
import type { RetentionService } from "./retention.ts";
import {
  AssistantPatch,
  AssistantSettings,
  QuietHoursPatch,
  QuietHoursSettings,
  RetentionPatch,
  RetentionSettings,
} from "./schema.ts";
import { type SettingsService, taggedView } from "./service.ts";

/** What the operations on one kind of settings have in common. */
const ASSISTANT = { tag: "Settings", response: AssistantSettings, tagged: taggedView } as const;
const QUIET_HOURS = { tag: "Settings", response: QuietHoursSettings, volatile: ["effective"] } as const;
const RETENTION = { tag: "Settings", response: RetentionSettings } as const;

/** The operations on an account's settings. Each kind has its defaults until the account changes them. */
export function settingsEndpoints(settings: SettingsService, retention: RetentionService) {
  return {
    readAssistant: endpoint({
      ...ASSISTANT,
      name: "readAssistantSettings",
      summary: "Read the assistant settings",
      description: "Reads the assistant settings, with the default of each field that was never changed.",
      handle: ({ caller }) => settings.readAssistant(caller.accountId),
    }),
    changeAssistant: endpoint({
      ...ASSISTANT,
      name: "changeAssistantSettings",
      summary: "Change the assistant settings; null restores a default",
      description: "Changes the fields that are sent. null restores a default.",
      body: AssistantPatch,
      problems: ["version_mismatch"],
      handle: ({ caller, body, precondition }) => settings.changeAssistant(caller.accountId, body, precondition),
    }),
    readQuietHours: endpoint({
      ...QUIET_HOURS,
      name: "readQuietHours",
      summary: "Read the quiet hours, and whether they are in force now",
      description: "Reads the quiet hours, with the default of each field that was never changed.",
      handle: ({ caller }) => settings.readQuietHours(caller.accountId),
    }),
    changeQuietHours: endpoint({
      ...QUIET_HOURS,
      name: "changeQuietHours",
      summary: "Change the quiet hours; null restores a default",
      description: "Changes the fields that are sent. null restores a default.",
      body: QuietHoursPatch,
      problems: ["version_mismatch"],
      handle: ({ caller, body, precondition }) => settings.changeQuietHours(caller.accountId, body, precondition),
    }),
    readRetention: endpoint({
      ...RETENTION,
      name: "readRetention",
      summary: "Read after how many days candidates are erased",
      description: "Reads the retention settings. By default candidates are kept until they are deleted.",
      handle: ({ caller }) => retention.read(caller.accountId),
    }),
    changeRetention: endpoint({
      ...RETENTION,
      name: "changeRetention",
      summary: "Change after how many days candidates are erased",
      description:
        "Changes the days that are sent; null means never. Candidates that are due then are erased after a day, except those under a hold: erases_at of each candidate says when.",
      body: RetentionPatch,
      problems: ["version_mismatch"],
      handle: ({ caller, body, precondition }) => retention.change(caller, body, precondition),
    }),
  };
}
