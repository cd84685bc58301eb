"""Validates the manifests in standard input, a JSON array, for the newest three versions of Kubernetes, which are those that
it supports. Prints, by version, what is wrong with each manifest: null if nothing is."""

import functools
import json
import sys

from kubernetes_validate import utils

# Without this, the schemas are read again for each manifest.
utils.schema_contents = functools.cache(utils.schema_contents)


def fault(manifest, version):
    try:
        utils.validate(manifest, version, strict=True)
    except (utils.ValidationError, utils.SchemaNotFoundError) as error:
        return f"{utils.kn(manifest)}: {error.message}"


# Each version is listed twice: its schemas also have a strict form.
VERSIONS = list(dict.fromkeys(utils.all_versions()))[-3:]

manifests = json.load(sys.stdin)
print(json.dumps({version: [fault(one, version) for one in manifests] for version in VERSIONS}))
