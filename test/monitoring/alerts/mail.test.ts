import { useMailServer } from "../../outreach/mail-server.ts";
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
});
