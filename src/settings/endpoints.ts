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

/** The operations on an account's settings. Each kind has its defaults until the account changes them. */
export function settingsEndpoints(settings: SettingsService, retention: RetentionService) {
  return {
    readAssistant: endpoint({
      name: "readAssistantSettings",
      tag: "Settings",
      summary: "Read the assistant settings",
      description: "Reads the assistant settings, with the default of each field that was never changed.",
      response: AssistantSettings,
      tagged: taggedView,
      problems: [],
      handle: ({ caller }) => settings.readAssistant(caller.accountId),
    }),
    changeAssistant: endpoint({
      name: "changeAssistantSettings",
      tag: "Settings",
      summary: "Change the assistant settings; null restores a default",
      description: "Changes the fields that are sent. null restores a default.",
      body: AssistantPatch,
      response: AssistantSettings,
      tagged: taggedView,
      problems: ["version_mismatch"],
      handle: ({ caller, body, precondition }) => settings.changeAssistant(caller.accountId, body, precondition),
    }),
    readQuietHours: endpoint({
      name: "readQuietHours",
      tag: "Settings",
      summary: "Read the quiet hours, and whether they are in force now",
      description: "Reads the quiet hours, with the default of each field that was never changed.",
      response: QuietHoursSettings,
      volatile: ["effective"],
      problems: [],
      handle: ({ caller }) => settings.readQuietHours(caller.accountId),
    }),
    changeQuietHours: endpoint({
      name: "changeQuietHours",
      tag: "Settings",
      summary: "Change the quiet hours; null restores a default",
      description: "Changes the fields that are sent. null restores a default.",
      body: QuietHoursPatch,
      response: QuietHoursSettings,
      volatile: ["effective"],
      problems: ["version_mismatch"],
      handle: ({ caller, body, precondition }) => settings.changeQuietHours(caller.accountId, body, precondition),
    }),
    readRetention: endpoint({
      name: "readRetention",
      tag: "Settings",
      summary: "Read after how many days candidates are erased",
      description: "Reads the retention settings. By default candidates are kept until they are deleted.",
      response: RetentionSettings,
      problems: [],
      handle: ({ caller }) => retention.read(caller.accountId),
    }),
    changeRetention: endpoint({
      name: "changeRetention",
      tag: "Settings",
      summary: "Change after how many days candidates are erased",
      description:
        "Changes the days that are sent; null means never. Candidates that are due then are erased after a day, except those under a hold: erases_at of each candidate says when.",
      body: RetentionPatch,
      response: RetentionSettings,
      problems: ["version_mismatch"],
      handle: ({ caller, body, precondition }) => retention.change(caller, body, precondition),
    }),
  };
}
