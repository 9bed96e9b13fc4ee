#!/usr/bin/env python3
"""Records what Terraform makes of configurations in JSON and of override files. README.md of the folder above describes the record.

A row has a folder, and either an expression with its value, or the address of a resource with the values that `terraform plan` says.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../crates/terraform/tests/recorded")
SYNTAX = os.path.join(RECORDED, "syntax")
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "TF_CLI_ARGS": "-no-color"}


def terraform(folder, *arguments, line=None):
    process = subprocess.run(["terraform", *arguments], cwd=folder, input=line, capture_output=True, text=True, env=ENVIRONMENT)
    if process.returncode != 0:
        return None, re.search(r"Error: (.*)", process.stderr).group(1).strip()
    return process.stdout, None


def names(folder):
    """The references to all variables, locals and modules of a folder."""
    found = set()
    for name in os.listdir(folder):
        if name.endswith((".tf", ".tf.json")):
            text = open(os.path.join(folder, name)).read()
            found |= {f"var.{name}" for name in re.findall(r'^variable "(\w+)"', text, re.M)}
            found |= {f"module.{name}" for name in re.findall(r'^module "(\w+)"', text, re.M)}
            for block in re.findall(r"^locals {\n(.*?)^}", text, re.M | re.S):
                found |= {f"local.{name}" for name in re.findall(r"^  (\w+) *=", block, re.M)}
            if name.endswith(".json"):
                tree = json.loads(text)
                for file in tree if isinstance(tree, list) else [tree]:
                    for kind, root in (("variable", "var"), ("locals", "local"), ("module", "module")):
                        bodies = file.get(kind, {})
                        for body in bodies if isinstance(bodies, list) else [bodies]:
                            found |= {f"{root}.{name}" for name in body if name != "//"}
    return sorted(found)


def row(folder, expression):
    answer, error = terraform(folder, "console", line=f"base64encode(jsonencode({expression}))\n")
    if error:
        return {"expression": expression, "error": error}
    return {"expression": expression, "json": base64.b64decode(json.loads(answer)).decode()}


def resources(module):
    yield from module.get("resources", [])
    for child in module.get("child_modules", []):
        yield from resources(child)


def main():
    rows = []
    for name in sorted(os.listdir(SYNTAX)):
        folder = os.path.join(tempfile.mkdtemp(), name)
        shutil.copytree(os.path.join(SYNTAX, name), folder)
        expressions = names(folder)
        for arguments in (["init"], ["plan", "-out=plan"]):
            _, error = terraform(folder, *arguments)
            if error:
                raise SystemExit(f"{name}: {error}")
        plan = json.loads(terraform(folder, "show", "-json", "plan")[0])
        rows += [{"folder": name, **row(folder, expression)} for expression in expressions]
        planned = resources(plan["planned_values"]["root_module"])
        rows += [{"folder": name, "address": one["address"], "values": one["values"]} for one in planned]
    with open(os.path.join(RECORDED, "syntax.jsonl"), "w") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(len(rows), sum("error" in row for row in rows))


if __name__ == "__main__":
    main()
