/**
 * Thirty rows of a pipeline, as they come out of a real one. `refused` names the field that can be read in two ways; every
 * other row must enter as it is. `kept` gives the values that are kept in another form.
 */
export interface Row {
  readonly row: Record<string, unknown>;
  readonly kept?: Record<string, unknown>;
  readonly refused?: string;
}

const ADA = { external_id: "ats-1", name: "Ada Lovelace", email: "ada@example.com" };

export const ROWS: readonly Row[] = [
  { row: ADA },
  { row: { ...ADA, name: "Ada Lovelace (again)" }, refused: "/external_id" },
  { row: { external_id: "ats-2", name: "  Grace Hopper  " }, kept: { name: "Grace Hopper" } },
  { row: { external_id: "ats-3", name: "Zoë Brontë-Núñez", email: "ZOE@EXAMPLE.COM" } },
  { row: { external_id: "ats-4", name: "محمد بن سلمان", phone: "+٩٧١ ٥٠ ١٢٣ ٤٥٦٧" }, kept: { phone: "+971501234567" } },
  { row: { external_id: "ats-5", name: "王小明", email: "小明@例子.公司" } },
  { row: { external_id: "ats-6", name: "שרה כהן", phone: "+972 (50) 234-5678" }, kept: { phone: "+972502345678" } },
  { row: { external_id: "ats-7", phone: "+1 (415) 555-0123" }, kept: { phone: "+14155550123" } },
  { row: { external_id: "ats-8", phone: "+44 (0)20 7946 0958" }, kept: { phone: "+442079460958" } },
  { row: { external_id: "ats-9", phone: "tel:+49-30-123456" }, kept: { phone: "+4930123456" } },
  { row: { external_id: "ats-10", phone: "(415) 555-0123" }, refused: "/phone" },
  {
    row: { external_id: "ats-11", phone: "", email: "", job_title: "   " },
    kept: { phone: null, email: null, job_title: null },
  },
  { row: { external_id: "", name: "Without an id" }, kept: { external_id: null } },
  { row: { external_id: "  ats-12  " }, kept: { external_id: "ats-12" } },
  { row: { external_id: "ats-13", start_date: "2027-01-10" } },
  { row: { external_id: "ats-14", start_date: "2027-01-10T00:00:00.000Z" }, kept: { start_date: "2027-01-10" } },
  { row: { external_id: "ats-15", start_date: "2027-01-10 00:00" }, kept: { start_date: "2027-01-10" } },
  { row: { external_id: "ats-16", start_date: "10/01/2027" }, refused: "/start_date" },
  { row: { external_id: "ats-17", start_date: "2027-01-10T09:30:00Z" }, refused: "/start_date" },
  { row: { external_id: "ats-18", start_date: "" }, kept: { start_date: null } },
  {
    row: { external_id: "ats-19", metadata: { score: 4.5, remote: true, team: " Ops ", none: null } },
    kept: { metadata: { score: "4.5", remote: "true", team: "Ops" } },
  },
  { row: { external_id: "ats-20", metadata: { salary: 70000 } }, kept: { metadata: { salary: "70000" } } },
  { row: { external_id: "ats-21", metadata: "" }, kept: { metadata: {} } },
  {
    row: { external_id: "ats-22", documents: ["Pass", "Pass", " Führerschein (Kopie) "] },
    kept: { documents: [{ name: "Pass" }, { name: "Pass" }, { name: "Führerschein (Kopie)", state: "pending" }] },
  },
  {
    row: {
      external_id: "ats-23",
      documents: [{ name: "CV", state: "accepted" }],
      references: [{ name: "Ann", state: "received" }],
    },
  },
  {
    row: { external_id: "ats-24", references: [{ name: "Bob", email: "", phone: "+1 212 555 0100", company: "" }] },
    kept: { references: [{ name: "Bob", email: null, phone: "+12125550100", company: null }] },
  },
  { row: { external_id: "ats-25", documents: [{ name: "Visa", state: "rejected", rejection_reason: "blurred" }] } },
  { row: { external_id: "ats-26", name: "Renée O’Connor-Šimůnek", job_title: "Chef 👩‍🍳" } },
  { row: { external_id: "ats-27", email: "first.last+hiring@sub.example.co.uk" } },
  { row: { external_id: "ats-28", name: "Last of thirty", first_name: null, last_name: null } },
];
