#!/usr/bin/env bash
# Builds the packages of the command line for this system, without optimisation, and uses them as users do: pip installs the wheel, pre-commit runs
# the hooks of this checkout with it, dpkg unpacks the Debian package, nix evaluates the flake, and a clean root gets each package. Everything but the
# two build tools and the clean root is taken from this checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
# The store of Nix is read-only.
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
say() { printf '%s\n' "==> $*"; }
same() { cmp "$1" "$2" || { printf '%s\n' "$1 and $2 differ" >&2; exit 1; }; }

tools=${TOOLS:-${CARGO_TARGET_DIR:-target}/package-tools}
if ! test -x "$tools/bin/maturin" || ! test -x "$tools/bin/pre-commit"; then
  say "maturin and pre-commit"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check maturin==1.16.0 pre-commit==4.7.0
fi
tools=$(realpath "$tools")

say "the wheel"
# Not `dist`, which may hold packages that were built before.
dist=$work/dist
mkdir "$dist"
make --no-print-directory wheel DIST="$dist" PROFILE=dev MATURIN="$tools/bin/maturin"
native=${CARGO_TARGET_DIR:-target}/debug/karpwarden
"$native" check --format json --fail-on never examples > "$work/native.json"

# From here on there is no index, and no compiler on the path.
export PIP_NO_INDEX=1 PIP_FIND_LINKS="$dist" PIP_DISABLE_PIP_VERSION_CHECK=1
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
mkdir "$work/bin"
for program in "$python" "$(command -v git)"; do ln -s "$program" "$work/bin/"; done
ln -sf "$python" "$work/bin/python3"
path="$work/bin:/usr/bin:/bin"
if PATH=$path command -v cargo rustc >/dev/null; then echo "the path has a Rust compiler" >&2; exit 1; fi

say "pip installs it"
python3 -m venv "$work/venv"
PATH=$path "$work/venv/bin/pip" install --quiet karpwarden
PATH=$path "$work/venv/bin/karpwarden" check --format json --fail-on never examples > "$work/wheel.json"
same "$work/native.json" "$work/wheel.json"

say "pre-commit runs the hooks of this checkout"
export PRE_COMMIT_HOME="$work/pre-commit" GIT_CONFIG_GLOBAL="$work/gitconfig"
git config --global user.name test && git config --global user.email test@example.com && git config --global safe.directory '*'
# pre-commit clones a commit: this one has what the checkout has.
git clone --quiet --shared "$root" "$work/karpwarden"
cp pyproject.toml Cargo.toml .pre-commit-hooks.yaml "$work/karpwarden/"
cp -r packaging/pre-commit "$work/karpwarden/packaging/"
git -C "$work/karpwarden" add --all && git -C "$work/karpwarden" commit --quiet --allow-empty --message checkout
mkdir "$work/repository" && cd "$work/repository" && git init --quiet
cp "$root/examples/nodeclass-good.yaml" .
cat > .pre-commit-config.yaml <<CONFIG
repos:
  - repo: $work/karpwarden
    rev: $(git -C "$work/karpwarden" rev-parse HEAD)
    hooks:
      - id: karpwarden
CONFIG
git add .
run() { PATH=$path "$tools/bin/pre-commit" run --all-files > "$work/run.log" 2>&1; }
SECONDS=0
run || { cat "$work/run.log"; exit 1; }
say "first run: ${SECONDS} s"
SECONDS=0
run || { cat "$work/run.log"; exit 1; }
say "second run: ${SECONDS} s"
test "$SECONDS" -lt 10
cp "$root/examples/nodeclass-bad.yaml" . && git add .
if run; then echo "pre-commit passes a bad manifest" >&2; exit 1; fi
grep -q 'error\[' "$work/run.log"
cd "$root"

if command -v cargo-deb >/dev/null && command -v dpkg-deb >/dev/null; then
  say "the Debian package"
  make --no-print-directory deb DIST="$dist" PROFILE=dev
  dpkg-deb --extract "$dist"/karpwarden_*.deb "$work/deb"
  "$work/deb/usr/bin/karpwarden" check --format json --fail-on never examples > "$work/deb.json"
  same "$work/native.json" "$work/deb.json"
  for file in man/man1/karpwarden.1.gz bash-completion/completions/karpwarden fish/vendor_completions.d/karpwarden.fish \
    zsh/vendor-completions/_karpwarden doc/karpwarden/copyright; do
    test -s "$work/deb/usr/share/$file" || { echo "no $file in the Debian package" >&2; exit 1; }
  done
else
  say "skipped: the Debian package needs cargo-deb and dpkg"
fi
if command -v nix >/dev/null; then
  say "the Nix flake, without a network and with a stand-in for nixpkgs"
  flake() {
    HOME=$work nix --extra-experimental-features 'nix-command flakes' --offline --store "$work/nix" "$@" \
      --no-write-lock-file --override-input nixpkgs "path:$root/packaging/nix/nixpkgs"
  }
  flake flake show "$root" > "$work/flake.log" 2>&1 || { cat "$work/flake.log"; exit 1; }
  for system in x86_64-linux aarch64-linux x86_64-darwin aarch64-darwin; do
    test "$(flake eval --raw "$root#packages.$system.default.version" 2> /dev/null)" = "$("$native" --version | cut -d' ' -f2)"
    [[ $(flake eval --raw "$root#apps.$system.default.program" 2> /dev/null) == */bin/karpwarden ]]
  done
else
  say "skipped: the Nix flake needs nix"
fi

if PATH=$PATH:/usr/sbin command -v debootstrap >/dev/null && { test "$(id -u)" = 0 || sudo -n true 2> /dev/null; }; then
  # `make playground-package` puts the command into the npm package.
  if test -f playground/package/engine/command.wasm; then (cd playground/package && npm pack --silent --pack-destination "$dist"); fi
  as_root=$(test "$(id -u)" = 0 || echo sudo)
  $as_root env PATH="$PATH:/usr/sbin" packaging/clean-root.sh "$dist" "$native"
else
  say "skipped: the clean root needs debootstrap and root"
fi
say "the packages work"
