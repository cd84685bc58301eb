/**
 * A fortnight of reminders, written by hand from the documentation: 40 candidates, what happens to each, and every message
 * that a person gets. Times are those of the account's clocks, from Monday 19 October 2026 to Sunday 1 November, UTC. Clocks
 * go back on 25 October in Berlin, and on 1 November in New York.
 *
 * A block begins with the candidate, the account, and why the candidate is here. Then it says with what the candidate is
 * created; by default each person's address is ADA@example.com by the first name, the caps are 3, and the language is the
 * account's. Then follow events: the start, unless it is on Mon 19 09:00, and others. After ">" stand the messages to each
 * person, by days, time and language: `first`, `again` (a reminder), or `news` (sentences → the list). An address is named if
 * it is not the default one.
 */
export const ACCOUNTS = {
  utc: { timezone: "UTC", language: "en", hours: 48 },
  berlin: { timezone: "Europe/Berlin", language: "de", hours: 48, quiet: ["20:00", "08:00"] },
  york: { timezone: "America/New_York", language: "en", hours: 48, quiet: ["21:00", "08:00"] },
  paris: { timezone: "UTC", language: "en", hours: 48 },
  daily: { timezone: "UTC", language: "es", hours: 24 },
  monthly: { timezone: "UTC", language: "nl", hours: 720 },
} as const;

/** Changes of settings: the account, when, and what. */
export const CHANGES = [
  ["paris", "Fri 23 12:00", { language: "fr" }],
  ["monthly", "Wed 28 10:00", { chase_interval_hours: 168 }],
] as const;

export const TABLE = `
Ada Lovelace, utc: nothing happens until the caps are reached
  docs CV, Passport · referees Charles
  > Ada: Mon 19 09:00 en first: CV, Passport | Wed 21, Fri 23 09:00 en again: CV, Passport
  > Charles: Mon 19 09:00 en first | Wed 21, Fri 23 09:00 en again

Alan Turing, utc: a document is rejected on the third day
  docs CV, Passport
  Mon 19 15:00 received Passport
  Wed 21 14:00 rejected Passport: blurred
  > Alan: Mon 19 09:00 en first: CV, Passport | Wed 21 09:00 en again: CV
  > Alan: Wed 21 14:02 en news: “Passport” was not accepted: blurred → CV, Passport
  > Alan: Fri 23 14:02 en again: Passport (not accepted: blurred)

Grace Hopper, utc: the address is corrected after a bounce, which counts as an attempt
  docs CV · email grace.gone
  Tue 20 10:00 email grace.new
  > Grace: Tue 20 10:02 en first at grace.new: CV | Thu 22 10:02 en again at grace.new: CV

Katherine Johnson, utc: stops the messages, and asks the operator for them again
  docs CV
  Tue 20 08:00 stop Katherine
  Fri 23 10:00 allow Katherine
  > Katherine: Mon 19 09:00 en first: CV | Fri 23, Sun 25 10:02 en again: CV

Emmy Noether, utc: one of two referees stops the messages
  docs none · referees David, Felix
  Tue 20 08:00 stop David
  > David: Mon 19 09:00 en first
  > Felix: Mon 19 09:00 en first | Wed 21, Fri 23 09:00 en again

Hedy Lamarr, utc: a referee has stopped the messages about somebody else
  docs CV · referees David
  Tue 20 09:00 start
  > Hedy: Tue 20 09:00 en first: CV | Thu 22, Sat 24 09:00 en again: CV

Rosalind Franklin, utc: a referee is added on the fifth day
  docs CV
  Fri 23 10:00 refer Max
  > Rosalind: Mon 19 09:00 en first: CV | Wed 21, Fri 23 09:00 en again: CV
  > Max: Fri 23 10:02 en first | Sun 25, Tue 27 10:02 en again

Lise Meitner, utc: a document is added, and has a cap of its own
  docs CV
  Tue 20 10:00 add Visa
  > Lise: Mon 19 09:00 en first: CV | Tue 20 10:02 en news: “Visa” is needed as well. → CV, Visa
  > Lise: Thu 22 10:02 en again: CV, Visa | Sat 24 10:02 en again: Visa

Marie Curie, utc: both are reminded now; again within the hour, and at the cap, nobody is
  docs CV · referees Pierre
  Tue 20 11:00 remind
  Tue 20 11:30 remind: reminded_recently
  Fri 23 11:00 remind: nothing_to_send, cap_reached
  > Marie: Mon 19 09:00 en first: CV | Tue 20, Thu 22 11:00 en again: CV
  > Pierre: Mon 19 09:00 en first | Tue 20, Thu 22 11:00 en again

Vera Rubin, utc: two changes within two minutes are one message
  docs CV, Passport, Photo (optional)
  Tue 20 10:00 rejected CV: old
  Tue 20 10:01 add Visa
  > Vera: Mon 19 09:00 en first: CV, Passport, Photo (if you have it)
  > Vera: Tue 20 10:02 en news: “CV” was not accepted: old + “Visa” is needed as well. → CV, Passport, Photo (if you have it), Visa
  > Vera: Thu 22 10:02 en again: CV (not accepted: old), Passport, Photo (if you have it), Visa
  > Vera: Sat 24 10:02 en again: Visa

Dorothy Hodgkin, utc: a change at the cap waits until the cap is raised
  docs CV · caps 1
  Tue 20 10:00 rejected CV: old
  Mon 26 12:00 caps 4
  > Dorothy: Mon 19 09:00 en first: CV | Mon 26 12:00 en news: “CV” was not accepted: old → CV
  > Dorothy: Wed 28, Fri 30 12:00 en again: CV (not accepted: old)

Barbara Liskov, utc: is imported without mail, which is turned on later
  docs CV
  Mon 19 08:00 off
  Wed 21 10:00 add Visa
  Thu 22 11:00 remind: nothing_to_send, disabled
  Thu 22 15:00 on
  > Barbara: Thu 22 15:00 en first: CV, Visa | Sat 24, Mon 26 15:00 en again: CV, Visa

Frances Allen, utc: a change while reminders are off brings nothing forward
  docs CV
  Mon 19 12:00 off
  Tue 20 10:00 rejected CV: old
  Tue 20 12:00 on
  > Frances: Mon 19 09:00 en first: CV | Wed 21, Fri 23 09:00 en again: CV (not accepted: old)

Ida Noddack, utc: is withdrawn, and reinstated after the interval
  docs CV · referees Walter
  Tue 20 10:00 withdraw
  Thu 22 12:00 reinstate
  > Ida: Mon 19 09:00 en first: CV | Thu 22, Sat 24 12:00 en again: CV
  > Walter: Mon 19 09:00 en first | Thu 22, Sat 24 12:00 en again

Mary Anning, utc: sends the document through the page, which completes her
  docs CV
  Tue 20 10:00 upload CV
  Wed 21 08:00 accepted CV
  Wed 21 08:30 remind: nothing_to_send, nothing_outstanding
  > Mary: Mon 19 09:00 en first: CV

Sally Ride, utc: everything arrives, one by one, and the referee answers
  docs CV, Passport · referees Tam
  Tue 20 10:00 upload CV
  Wed 21 12:00 answer Tam
  Thu 22 10:00 upload Passport
  > Sally: Mon 19 09:00 en first: CV, Passport | Wed 21 09:00 en again: Passport
  > Tam: Mon 19 09:00 en first | Wed 21 09:00 en again

Mae Jemison, utc: an accepted document expires
  docs CV, Visa (accepted until 2026-10-22)
  > Mae: Mon 19 09:00 en first: CV | Wed 21 09:00 en again: CV
  > Mae: Fri 23 00:02 en news: “Visa” has expired. → CV, Visa
  > Mae: Sun 25, Tue 27 00:02 en again: Visa (expired)

Ling Wu, utc: neither she nor her referee has an address at first
  docs CV · email none · referees Edward (at none)
  Mon 19 10:00 remind: nothing_to_send, no_email
  Tue 20 10:00 email edward.new for Edward
  Wed 21 10:00 email ling.new
  > Ling: Wed 21 10:02 en first at ling.new: CV | Fri 23, Sun 25 10:02 en again at ling.new: CV
  > Edward: Tue 20 10:02 en first at edward.new | Thu 22, Sat 24 10:02 en again at edward.new

Ann Ames, utc: the first of six with one referee, whose mailbox gets five messages a day
  docs none · referees Mina (at mina+1) · caps 2
  Mon 19 10:00 start
  > Mina: Mon 19 10:00 en first at mina+1 | Wed 21 10:00 en again at mina+1

Beth Bell, utc: the second of six
  docs none · referees Mina (at mina+2) · caps 2
  Mon 19 10:10 start
  > Mina: Mon 19 10:10 en first at mina+2 | Wed 21 10:10 en again at mina+2

Cora Cox, utc: the third of six
  docs none · referees Mina (at mina+3) · caps 2
  Mon 19 10:20 start
  > Mina: Mon 19 10:20 en first at mina+3 | Wed 21 10:20 en again at mina+3

Dora Day, utc: the fourth of six
  docs none · referees Mina (at mina+4) · caps 2
  Mon 19 10:30 start
  > Mina: Mon 19 10:30 en first at mina+4 | Wed 21 10:30 en again at mina+4

Edith Eel, daily: the fifth of six, of another account
  docs none · referees Mina (at mina+5) · caps 2
  Mon 19 10:40 start
  > Mina: Mon 19 10:40 es first at mina+5 | Tue 20 10:40 es again at mina+5

Flora Fox, utc: the sixth of six waits for the next day
  docs none · referees Mina · caps 2
  Mon 19 10:50 start
  > Mina: Tue 20 00:00 en first | Thu 22 00:00 en again

Nettie Stevens, utc: the mail server takes the first message at the third attempt
  docs CV · email nettie.slow
  > Nettie: Mon 19 09:03 en first at nettie.slow: CV | Wed 21, Fri 23 09:03 en again at nettie.slow: CV

Inge Lehmann, utc: another system has asked twice
  docs CV (asked 2)
  > Inge: Tue 20 09:00 en again: CV

Tu Youyou, utc: the reason of a rejection is corrected
  docs CV
  Tue 20 10:00 rejected CV: old
  Wed 21 10:00 rejected CV: cut off
  > Tu: Mon 19 09:00 en first: CV | Tue 20 10:02 en news: “CV” was not accepted: old → CV
  > Tu: Wed 21 10:02 en news: “CV” was not accepted: cut off → CV

Nina Byers, utc: the referee declines, and is asked once more
  docs none · referees Olaf
  Tue 20 10:00 decline Olaf
  Thu 22 10:00 requested Olaf
  > Olaf: Mon 19 09:00 en first | Thu 22, Sat 24 10:02 en again

Otto Hahn, utc: the referee's address bounces; its correction alone is not enough
  docs none · referees Selma (at selma.gone)
  Wed 21 10:00 email selma.new for Selma
  Thu 22 10:00 requested Selma
  > Selma: Thu 22 10:02 en first at selma.new | Sat 24 10:02 en again at selma.new

Clara Immerwahr, berlin: clocks go back, and quiet hours hold
  docs CV · caps 10
  Mon 19 08:30 start
  > Clara: Mon 19 08:30 de first: CV | Wed 21, Fri 23 08:30 de again: CV
  > Clara: Sun 25, Tue 27, Thu 29, Sat 31 08:00 de again: CV

Sophie Germain, berlin: a change in quiet hours waits for their end
  docs CV
  Tue 20 22:00 rejected CV: unscharf
  > Sophie: Mon 19 09:00 de first: CV | Wed 21 08:00 de news: „CV“ wurde nicht akzeptiert: unscharf → CV
  > Sophie: Fri 23 08:00 de again: CV (nicht akzeptiert: unscharf)

Maria Mayer, berlin: is reminded at night, which waits and uses its hour; each person has a language
  docs CV · language fr · referees Hans (nl) · caps 4
  Mon 19 22:00 remind
  Mon 19 22:30 remind: reminded_recently
  Mon 19 23:30 remind: reminded_recently
  Tue 20 08:10 remind
  > Maria: Mon 19 09:00 fr first: CV | Tue 20 08:00 fr again: CV | Tue 20, Thu 22 08:10 fr again: CV
  > Hans: Mon 19 09:00 nl first | Tue 20 08:00 nl again | Tue 20, Thu 22 08:10 nl again

Paula Hertwig, berlin: is started at night
  docs CV · referees Lene (en-GB)
  Mon 19 21:00 start
  > Paula: Tue 20 08:00 de first: CV | Thu 22, Sat 24 08:00 de again: CV
  > Lene: Tue 20 08:00 en first | Thu 22, Sat 24 08:00 en again

Agnes Pockels, berlin: gets a language of her own between two messages
  docs CV
  Tue 20 10:00 language nl
  > Agnes: Mon 19 09:00 de first: CV | Wed 21, Fri 23 09:00 nl again: CV

Cecilia Payne, york: is started at night; clocks go back on the last day
  docs CV · caps 10
  Mon 19 22:00 start
  > Cecilia: Tue 20 08:00 en first: CV | Thu 22, Sat 24, Mon 26, Wed 28, Fri 30, Sun 1 08:00 en again: CV

Jocelyn Bell, york: the address is corrected at night, and the interval begins again
  docs CV · caps 10
  Mon 19 20:30 start
  Sat 24 23:00 email jocelyn.new
  > Jocelyn: Mon 19 20:30 en first: CV | Wed 21, Fri 23 20:30 en again: CV
  > Jocelyn: Sun 25 08:00 en first at jocelyn.new: CV
  > Jocelyn: Tue 27, Thu 29, Sat 31 08:00 en again at jocelyn.new: CV

Irene Joliot, paris: keeps her language when the settings change, and the referee has none
  docs CV · language de · referees Fred · caps 5
  > Irene: Mon 19 09:00 de first: CV | Wed 21, Fri 23, Sun 25, Tue 27 09:00 de again: CV
  > Fred: Mon 19 09:00 en first | Wed 21, Fri 23 09:00 en again | Sun 25, Tue 27 09:00 fr again

Lucia Moholy, daily: is asked every day until her own cap, the referee until another one
  docs CV · referees Gerty (en) · caps 5/2
  > Lucia: Mon 19 09:00 es first: CV | Tue 20, Wed 21, Thu 22, Fri 23 09:00 es again: CV
  > Gerty: Mon 19 09:00 en first | Tue 20 09:00 en again

Marga Klompe, monthly: a change need not wait a month, and the shorter interval counts from it
  docs CV, Pass · language en
  Thu 22 10:00 rejected Pass: blurred
  > Marga: Mon 19 09:00 en first: CV, Pass
  > Marga: Thu 22 10:02 en news: “Pass” was not accepted: blurred → CV, Pass
  > Marga: Thu 29 10:02 en again: CV, Pass (not accepted: blurred)

Truus Wijsmuller, monthly: the shorter interval is over when it is set
  docs CV
  > Truus: Mon 19 09:00 nl first: CV | Wed 28 10:00 nl again: CV
`;
