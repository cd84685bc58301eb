"""A dlt source: `pip install "dlt[duckdb]"`, then `python3 dlt_source.py`. Any destination of dlt takes the place of duckdb."""

import os

import dlt
from dlt.sources.rest_api import rest_api_source

CANDIDATES = {
    "name": "candidates",
    "primary_key": "id",
    "write_disposition": "merge",
    # deleted removes the row; of two rows with one id the later version stays; metadata stays one column.
    "columns": {
        "deleted": {"data_type": "bool", "hard_delete": True},
        "version": {"data_type": "bigint", "dedup_sort": "desc"},
        "metadata": {"data_type": "json"},
    },
    "endpoint": {
        "path": "candidates",
        "params": {"limit": 1000},
        "data_selector": "data",
        # cursor is always there: only has_more ends the pages.
        "paginator": {"type": "cursor", "cursor_path": "cursor", "cursor_param": "cursor", "has_more_path": "has_more"},
        "incremental": {
            "cursor_path": "updated_at",
            "initial_value": "1970-01-01T00:00:00Z",
            "start_param": "updated_since",
            "on_cursor_value_missing": "exclude",  # a row with unreadable: true, of a damaged record: keep what is there
            "lag": 10,  # seconds: at least the operator's STORE_TIMEOUT_MS (5 s) plus 2 s of clock skew
        },
    },
}
client = {
    "base_url": os.environ["ONBOARDING_URL"],
    "auth": {"type": "bearer", "token": os.environ["ONBOARDING_KEY"]},
}
pipeline = dlt.pipeline("onboarding", destination="duckdb", dataset_name="mirror")
print(pipeline.run(rest_api_source({"client": client, "resources": [CANDIDATES]})))
