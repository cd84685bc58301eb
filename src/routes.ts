import { type Route, route } from "./api/endpoint.ts";
import { candidateEndpoints } from "./candidates/endpoints.ts";
import type { Eraser } from "./candidates/eraser.ts";
import type { BulkService } from "./candidates/bulk.ts";
import type { CandidateService } from "./candidates/service.ts";
import { documentEndpoints } from "./documents/endpoints.ts";
import type { DocumentService } from "./documents/service.ts";
import { readLimits } from "./limits/endpoints.ts";
import { packEndpoints } from "./pack/endpoints.ts";
import type { PackService } from "./pack/service.ts";
import { referenceEndpoints } from "./references/endpoints.ts";
import type { ReferenceService } from "./references/service.ts";
import { outreachEndpoints } from "./reminders/endpoints.ts";
import type { OutreachService } from "./reminders/service.ts";
import { settingsEndpoints } from "./settings/endpoints.ts";
import type { RetentionService } from "./settings/retention.ts";
import type { SettingsService } from "./settings/service.ts";
import { usageEndpoint } from "./usage/endpoints.ts";
import type { UsageService } from "./usage/service.ts";
import { webhookEndpoints } from "./webhooks/endpoints.ts";
import type { WebhookService } from "./webhooks/service.ts";

export interface Services {
  readonly candidates: CandidateService;
  readonly bulks: BulkService;
  readonly eraser: Eraser;
  readonly documents: DocumentService;
  readonly outreach: OutreachService;
  readonly packs: PackService;
  readonly references: ReferenceService;
  readonly settings: SettingsService;
  readonly retention: RetentionService;
  readonly usage: UsageService;
  readonly webhooks: WebhookService;
}

/** The index of routes. api/mount.ts serves them, and GET /openapi.json. /livez and /readyz are in process/ops.ts. */
export function routes(services: Services): readonly Route[] {
  const candidates = candidateEndpoints(services.candidates, services.bulks, services.eraser);
  const documents = documentEndpoints(services.documents, services.eraser);
  const packs = packEndpoints(services.packs);
  const references = referenceEndpoints(services.references, services.eraser);
  const outreach = outreachEndpoints(services.outreach);
  const settings = settingsEndpoints(services.settings, services.retention);
  const webhooks = webhookEndpoints(services.webhooks);
  // prettier-ignore
  return [
    route("GET",   "/limits",                                  "free",     readLimits),
    route("GET",   "/limits/usage",                            "free",     usageEndpoint(services.usage)),
    route("POST",  "/candidates",                              "create",   candidates.create),
    route("GET",   "/candidates",                              "list",     candidates.list),
    route("POST",  "/candidates/bulk",                         "create",   candidates.createMany),
    route("PATCH", "/candidates/bulk",                         "writes",   candidates.updateMany),
    route("GET",   "/candidates/:id",                          "reads",    candidates.read),
    route("PATCH", "/candidates/:id",                          "writes",   candidates.update),
    route("DELETE", "/candidates/:id",                         "writes",   candidates.erase),
    route("POST",  "/candidates/:id/start",                    "start",    candidates.start),
    route("GET",   "/candidates/:id/history",                  "reads",    candidates.history),
    route("GET",   "/candidates/:id/outreach",                 "reads",    outreach.read),
    route("PATCH", "/candidates/:id/outreach",                 "writes",   candidates.setOutreach),
    route("POST",  "/candidates/:id/outreach/remind",          "writes",   outreach.remind),
    route("POST",  "/candidates/:id/documents",                "writes",   documents.add),
    route("GET",   "/candidates/:id/documents/:docId",         "reads",    documents.read),
    route("PATCH", "/candidates/:id/documents/:docId",         "writes",   documents.update),
    route("DELETE", "/candidates/:id/documents/:docId",        "writes",   documents.remove),
    route("PUT",   "/candidates/:id/documents/:docId/content", "writes",   documents.putContent),
    route("GET",   "/candidates/:id/documents/:docId/content", "reads",    documents.readContent),
    route("POST",  "/candidates/:id/references",               "writes",   references.add),
    route("GET",   "/references/:id",                          "reads",    references.read),
    route("PATCH", "/references/:id",                          "writes",   references.update),
    route("DELETE", "/references/:id",                         "writes",   references.remove),
    route("GET",   "/candidates/:id/pack",                     "pack",     packs.read),
    route("GET",   "/settings/assistant",                      "reads",    settings.readAssistant),
    route("PATCH", "/settings/assistant",                      "settings", settings.changeAssistant),
    route("GET",   "/settings/quiet-hours",                    "reads",    settings.readQuietHours),
    route("PATCH", "/settings/quiet-hours",                    "settings", settings.changeQuietHours),
    route("GET",   "/settings/retention",                      "reads",    settings.readRetention),
    route("PATCH", "/settings/retention",                      "settings", settings.changeRetention),
    route("POST",  "/webhooks",                                "settings", webhooks.create),
    route("GET",   "/webhooks",                                "reads",    webhooks.list),
    route("GET",   "/webhooks/:id",                            "reads",    webhooks.read),
    route("PATCH", "/webhooks/:id",                            "settings", webhooks.update),
    route("DELETE", "/webhooks/:id",                           "settings", webhooks.remove),
    route("POST",  "/webhooks/:id/test",                       "settings", webhooks.test),
    route("POST",  "/webhooks/:id/rotate",                     "settings", webhooks.rotate),
  ];
}
