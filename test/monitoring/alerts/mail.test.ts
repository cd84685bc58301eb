import { useMailServer } from "../../reminders/mail-server.ts";
import { expectReadable, useObserved } from "../support/observed.ts";

describe("the alert of mail", () => {
  const mail = useMailServer();
  const { service, prometheus } = useObserved(() => ({
    SMTP_URL: mail.url,
    MAIL_FROM: "jobs@example.com",
    PUBLIC_URL: "https://hire.example.com",
  }));

  it("fires while the mail server takes nothing, and ends when it does again", async () => {
    mail.treat = () => ({ at: "connect", reply: 421 });
    const { client } = await service.account();
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents: ["CV"] })).body;
    await client.post(`/candidates/${id}/start`);
    expectReadable(await prometheus.firing("OnboardingMailUnavailable"));
    mail.treat = () => "accept";
    await prometheus.quiet("OnboardingMailUnavailable");
  });

  it("fires if one account sends most of the reminders", async () => {
    const { id } = await service.account();
    const day = Math.floor(Date.now() / 86_400_000);
    const counts = { account: id, day, version: 1, messages: 501, new_addresses: 0, hours: {}, pending: [] };
    const days = service.operators.mongo.db.collection<{ _id: string }>("mail_account_days");
    await days.insertOne({ _id: `${id}/${day}`, ...counts });
    expectReadable(await prometheus.firing("OnboardingMailFromOneAccount"));
    await days.deleteOne({ _id: `${id}/${day}` });
    await prometheus.quiet("OnboardingMailFromOneAccount");
  });
});
