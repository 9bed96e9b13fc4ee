"""Builds the package that pre-commit installs (PEP 517): no files, and one dependency, the command line in the version of this checkout.

It uses nothing but Python, so that it also works without an index.
"""

import pathlib
import re
import zipfile


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    manifest = pathlib.Path("Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^\[workspace\.package\]\nversion = "(.+)"$', manifest, re.MULTILINE).group(1)
    info = f"karpwarden_hooks-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: karpwarden-hooks\nVersion: {version}\nRequires-Dist: karpwarden=={version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: karpwarden\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    name = f"karpwarden_hooks-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
