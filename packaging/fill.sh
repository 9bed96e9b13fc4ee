#!/bin/sh
# fill.sh RELEASE OUT: writes the files that a maintainer sends elsewhere to the folder OUT, with the checksums of the folder RELEASE, which has
# the archives of a release and SHA256SUMS. A manifest names an archive, and has zeros in place of its checksum after that.
set -eu
release=$1 out=$2
cd "$(dirname "$0")"
mkdir -p "$out"
for file in homebrew/*.rb scoop/*.json winget/*.yaml krew/*.yaml aqua/*.yaml mise/*.toml schemastore/*.json gitlab/templates/*.yml \
  mega-linter-plugin-karpwarden/*.yml super-linter/*.sh; do
  mkdir -p "$out/$(dirname "$file")"
  awk -v sums="$release/SHA256SUMS" '
    BEGIN {
      while ((getline line < sums) > 0) { split(line, part, "  "); sum[part[2]] = part[1] }
      zeros = sprintf("%064d", 0)
    }
    match($0, /karpwarden-[a-z0-9_-]+\.(tar\.gz|zip)/) { name = substr($0, RSTART, RLENGTH) }
    index($0, zeros) && !/^#/ {
      if (!(name in sum)) { print FILENAME ": no checksum of " name > "/dev/stderr"; exit 1 }
      sub(zeros, sum[name])
    }
    { print }
  ' "$file" > "$out/$file"
done
