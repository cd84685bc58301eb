"""Uses the client that openapi-python-client makes, and prints what it saw as JSON."""

import io
import json
import os

from cos_client import AuthenticatedClient
from cos_client.api.candidates import create_candidate, list_candidates, read_candidate
from cos_client.api.documents import put_document_content, read_document_content
from cos_client.api.limits import read_limits
from cos_client.models import CandidateInput, DeletedCandidate
from cos_client.types import File

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])
candidate = create_candidate.sync(
    client=client,
    body=CandidateInput(external_id="python-1", documents=["Passport"]),
    idempotency_key="python-1",
)
document = candidate.documents[0]

with open(os.environ["FILE"], "rb") as file:
    sent = file.read()
put_document_content.sync(candidate.id, document.id, client=client, body=File(payload=io.BytesIO(sent)))
read = read_document_content.sync(candidate.id, document.id, client=client)

rows = list_candidates.sync(client=client).data
refused = read_candidate.sync_detailed("cand_none", client=client)

print(
    json.dumps(
        {
            "candidate": candidate.id,
            "state": candidate.state,
            "same": read.payload.read() == sent,
            "rows": [row.id for row in rows if not isinstance(row, DeletedCandidate)],
            "deleted": [row.id for row in rows if isinstance(row, DeletedCandidate)],
            "surfaces": len(read_limits.sync(client=client).surfaces),
            "problem": f"{refused.status_code.value} {refused.parsed.code}",
        }
    )
)
