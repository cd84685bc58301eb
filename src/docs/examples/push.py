"""Pushes a CSV file every night: creates what is new, changes what changed, withdraws who is gone. push.db lists what was sent.

    pip install httpx
    ONBOARDING_URL=https://… ONBOARDING_KEY=cos_live_… python3 push.py pipeline.csv
"""

import collections, csv, hashlib, httpx, json, os, sqlite3, sys, time, uuid

SILENT = True  # The service writes to nobody. Set it to False on the day on which the service takes over from your system.
client = httpx.Client(base_url=os.environ["ONBOARDING_URL"], headers={"X-API-Key": os.environ["ONBOARDING_KEY"]}, timeout=60)
db = sqlite3.connect(os.environ.get("PUSH_FILE", "push.db"), isolation_level=None)
db.execute("create table if not exists sent (external_id text primary key, digest text not null)")


def candidate(row):
    """Returns a row as the service takes it. The service tidies spaces, phones, dates and empty fields by itself."""
    return {
        **{name: row[name].strip() for name in ("external_id", "name", "email", "phone", "start_date")},
        "withdrawn": False,  # a person who was gone may come back
        **({"outreach_enabled": False} if SILENT else {}),
        "documents": [name for name in row["documents"].split(";") if name],
        "references": [{"name": row["referee_name"], "email": row["referee_email"]}] if row["referee_email"] else [],
    }


def send(method, candidates, **query):
    """Yields the id of each candidate that is taken. Sends 100 at once, waits as long as a limit asks for, and tries again."""
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
        else:
            sys.exit("The service does not answer. Run this again later: it goes on.")
        for row, result in zip(some, answer.raise_for_status().json()["results"]):
            for fault in [result["problem"]] if "problem" in result else result.get("warnings", []):
                print(row["external_id"], fault["detail"])
            if "problem" not in result:
                yield row["external_id"]


rows = [candidate(row) for row in csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8-sig"))]
digests = {row["external_id"]: hashlib.sha256(json.dumps(row).encode()).hexdigest() for row in rows}
known = dict(db.execute("select external_id, digest from sent"))
changed = [row for row in rows if known.get(row["external_id"]) != digests[row["external_id"]]]
gone = [{"external_id": name, "withdrawn": True} for name in known.keys() - digests.keys()]
twice = [name for name, n in collections.Counter(row["external_id"] for row in rows).items() if n > 1 or not name]
if twice or len(gone) > max(len(known) / 10, min(10, len(known) / 2)):
    sys.exit(f"Nothing was sent. Ids that are empty or there twice: {twice}. Gone: {len(gone)} of {len(known)}: was it cut off?")
for name in send("POST", changed, on_conflict="update", unreadable="metadata"):
    db.execute("replace into sent values (?, ?)", (name, digests[name]))
for name in send("PATCH", gone):
    db.execute("delete from sent where external_id = ?", (name,))
print(f"{len(changed)} sent, {len(gone)} withdrawn")
