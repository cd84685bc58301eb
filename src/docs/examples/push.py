"""Pushes a pipeline from a CSV file: creates what is new, changes what has changed, withdraws who is gone. Run it every night:
a table of what was sent, push.db, keeps it from sending anything twice.

    pip install httpx
    ONBOARDING_URL=https://… ONBOARDING_KEY=cos_live_… python3 push.py pipeline.csv
"""

import csv, hashlib, json, os, sqlite3, sys, time, uuid

import httpx

key = {"Authorization": f"Bearer {os.environ['ONBOARDING_KEY']}"}
client = httpx.Client(base_url=os.environ["ONBOARDING_URL"], headers=key, timeout=60)
db = sqlite3.connect(os.environ.get("PUSH_FILE", "push.db"))
db.execute("create table if not exists sent (external_id text primary key, digest text not null)")


def candidate(row):
    """Returns a row as the service takes it. The service tidies spaces, phones, dates and empty fields by itself."""
    referee = {"name": row["referee_name"], "email": row["referee_email"]}
    return {
        **{name: row[name] for name in ("external_id", "name", "email", "phone", "start_date")},
        "withdrawn": False,  # a person who was gone may come back
        "outreach_enabled": False,  # as long as another system writes to them
        "documents": [name for name in row["documents"].split(";") if name],
        "references": [referee] if row["referee_email"] else [],
    }


def send(method, candidates, **query):
    """Yields each candidate with its result. Sends 100 at once, waits as long as a limit asks for, and tries again."""
    for first in range(0, len(candidates), 100):
        some, headers = candidates[first : first + 100], {"Idempotency-Key": str(uuid.uuid4())}
        for failures in range(100):
            try:
                params = {"count": len(some), **query}
                answer = client.request(method, "/candidates/bulk", params=params, headers=headers, json={"candidates": some})
                if answer.status_code not in (409, 429, 502, 503, 504):
                    break
                time.sleep(int(answer.headers.get("Retry-After", 5)))
            except httpx.TransportError:
                time.sleep(min(2**failures, 60))
        yield from zip(some, answer.raise_for_status().json()["results"])


with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
    rows = {row["external_id"]: candidate(row) for row in csv.DictReader(file)}
digests = {name: hashlib.sha256(json.dumps(row).encode()).hexdigest() for name, row in rows.items()}
known = dict(db.execute("select external_id, digest from sent"))
changed = [row for name, row in rows.items() if known.get(name) != digests[name]]
gone = [{"external_id": name, "withdrawn": True} for name in known.keys() - rows.keys()]
for row, result in send("POST", changed, on_conflict="update", unreadable="metadata"):
    print(result["status"], row["external_id"], result.get("problem", {}).get("detail", ""))
    if "problem" not in result:
        db.execute("replace into sent values (?, ?)", (row["external_id"], digests[row["external_id"]]))
        db.commit()
for row, result in send("PATCH", gone):
    db.execute("delete from sent where external_id = ?", (row["external_id"],))
    db.commit()
print(f"{len(changed)} sent, {len(gone)} withdrawn")
