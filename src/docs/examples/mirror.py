"""Mirrors a pipeline into a SQLite file: one table, one row for each candidate. Run it as often as you like, for example
every five minutes: it continues where it ended.

    pip install httpx
    ONBOARDING_URL=https://… ONBOARDING_KEY=cos_live_… python3 mirror.py
"""

import json
import os
import sqlite3
import time

import httpx

client = httpx.Client(
    base_url=os.environ["ONBOARDING_URL"],
    headers={"Authorization": f"Bearer {os.environ['ONBOARDING_KEY']}"},
    timeout=30,
)
db = sqlite3.connect(os.environ.get("MIRROR_FILE", "mirror.db"))
db.execute("""create table if not exists candidates (
  id text primary key, external_id text, name text, state text, updated_at text not null, row text not null)""")
db.execute("create table if not exists progress (one integer primary key check (one = 1), cursor text not null)")


def read_page(cursor):
    """Waits as long as a limit asks for. Tries again if the service is not there, up to five times."""
    failures = 0
    while True:
        try:
            answer = client.get("/candidates", params={"limit": 1000} | ({"cursor": cursor} if cursor else {}))
            if answer.status_code not in (429, 502, 503, 504):
                return answer.raise_for_status().json()
            seconds = int(answer.headers.get("Retry-After", 2**failures))
            failures += answer.status_code != 429
        except httpx.TransportError:
            seconds = 2**failures
            failures += 1
        if failures > 5:
            raise SystemExit("The service cannot be reached. Run this again later.")
        time.sleep(seconds)


cursor = next((cursor for (cursor,) in db.execute("select cursor from progress")), None)
changes, has_more = 0, True
while has_more:
    page = read_page(cursor)
    cursor, has_more = page["cursor"], page["has_more"]
    with db:  # the rows and the cursor are stored together, so a crash at any moment loses nothing
        for row in page["data"]:
            if row.get("unreadable"):
                continue  # the record is damaged: keep what is there
            if row.get("deleted"):
                db.execute("delete from candidates where id = ?", (row["id"],))
            else:
                columns = [row[name] for name in ("id", "external_id", "name", "state", "updated_at")]
                db.execute("replace into candidates values (?, ?, ?, ?, ?, ?)", (*columns, json.dumps(row)))
        db.execute("replace into progress values (1, ?)", (cursor,))
    changes += len(page["data"])
print(f"{changes} changes")
