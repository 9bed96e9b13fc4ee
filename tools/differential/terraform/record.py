#!/usr/bin/env python3
"""Records answers of `terraform console` to generated expressions. README.md of the folder above describes the record.

`terraform console` prints the last answer only, and ends at the first error. So the program asks for many expressions in one tuple, and
halves a tuple that has no answer until it knows the expression that is the cause.
"""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

from expressions import expressions

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../crates/terraform/tests/recorded")
BATCH = 32
TITLE = re.compile(r"Error: (.*)")
own = threading.local()


def folder():
    """The configuration, copied for each thread: `terraform console` locks the state of its folder."""
    if not hasattr(own, "folder"):
        own.folder = os.path.join(tempfile.mkdtemp(), "configuration")
        shutil.copytree(os.path.join(RECORDED, "configuration"), own.folder)
    return own.folder


def console(line):
    """The answer to a line, or the title of its error."""
    process = subprocess.run(
        ["terraform", "console"], cwd=folder(), input=line + "\n", capture_output=True, text=True,
        env={**os.environ, "NO_COLOR": "1", "TF_CLI_ARGS": "-no-color"},
    )
    if process.returncode == 0:
        return process.stdout, None
    return None, TITLE.search(process.stderr).group(1).strip()


def values(batch):
    """A row for each expression."""
    parts = ",".join(f"base64encode(jsonencode({text}))" for text in batch)
    # A comment or an open bracket in one expression would hide the others.
    answer, error = console(f"join(\",\",[{parts}])" if len(batch) > 1 else f"base64encode(jsonencode({batch[0]}))")
    if answer is not None and answer.startswith('"'):
        encoded = json.loads(answer).split(",")
        if len(encoded) == len(batch):
            return [{"expression": text, "json": base64.b64decode(one).decode()} for text, one in zip(batch, encoded)]
    if len(batch) == 1:
        kind = {"error": error} if error else {"sensitive": True} if "sensitive" in answer else {"unknown": True}
        return [{"expression": batch[0], **kind}]
    half = len(batch) // 2
    return values(batch[:half]) + values(batch[half:])


def types(batch):
    """The type of each expression, as `type` prints it, a function of the console alone. The expressions have answers."""
    answer, error = console(f"type([{','.join(batch)}])")
    if error:
        if len(batch) == 1:
            return [None]
        half = len(batch) // 2
        return types(batch[:half]) + types(batch[half:])
    found = [""]
    for line in answer.splitlines()[1:-1]:
        found[-1] += line.strip()
        if line.startswith("    ") and not line.startswith("     ") and line.endswith(","):
            found[-1] = re.sub(r",(?=[)}\]]|$)", "", found[-1])
            found.append("")
    found.pop()
    return found if len(found) == len(batch) else [None] * len(batch)


def batches(texts):
    return [texts[start:start + BATCH] for start in range(0, len(texts), BATCH)]


def main():
    texts = list(dict.fromkeys(expressions()))
    with ThreadPoolExecutor(4) as pool:
        rows = [row for part in pool.map(values, batches(texts)) for row in part]
        known = [row for row in rows if "json" in row]
        found = [one for part in pool.map(types, batches([row["expression"] for row in known])) for one in part]
    for row, one in zip(known, found):
        if one:
            row["type"] = one
    with gzip.GzipFile(os.path.join(RECORDED, "console.jsonl.gz"), "wb", compresslevel=9, mtime=0) as packed:
        for row in rows:
            packed.write((json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode())
    counts = {kind: sum(kind in row for row in rows) for kind in ("json", "error", "unknown", "sensitive", "type")}
    print(len(rows), counts)


if __name__ == "__main__":
    main()
