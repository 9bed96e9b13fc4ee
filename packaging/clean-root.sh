#!/usr/bin/env bash
# clean-root.sh DIST NATIVE: installs each package of the folder DIST (.deb, .whl, .tgz of npm) in a fresh root folder of this Debian or Ubuntu,
# without a compiler and without a network. Checks `examples/` there, compares the bytes with those of the program NATIVE, removes the package, and
# compares the files of the root with those before. Needs root and debootstrap. For npm, Node is copied from this machine.
set -euo pipefail
dist=$(realpath "$1") native=$(realpath "$2")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
say() { printf '%s\n' "==> $*"; }

say "a clean root"
suite=${SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
components=main$(. /etc/os-release && test "$ID" != ubuntu || echo ,universe)
debootstrap --variant=minbase --components="$components" --include=python3-pip "$suite" "$root" > "$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; exit 1; }
cp -r examples "$root/examples"
# pip removes a folder that it leaves empty; a machine has other programs there.
touch "$root/usr/local/bin/other"
mkdir "$root/dist"
cp "$dist"/* "$root/dist/"
packages=()
for pattern in '*.deb' '*.whl' '*.tgz'; do
  if compgen -G "$dist/$pattern" > /dev/null; then packages+=("$pattern"); else say "skipped: no $pattern"; fi
done
if [[ " ${packages[*]} " == *' *.tgz '* ]]; then
  cp "$(readlink -f "$(command -v node)")" "$root/usr/bin/node"
  mkdir -p "$root/usr/lib/node_modules"
  cp -r "$(npm root --global)/npm" "$root/usr/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"
fi

inside() {
  unshare --net chroot "$root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 npm_config_cache=/tmp/npm npm_config_offline=true "$@"
}
# The files and links of the root, but for the notes of package managers about what they did.
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/log -o -path ./var/cache \
    -o -path ./var/lib/dpkg \) -prune -o \( -type d -printf '%p %m\n' -o -printf '%p %m %s %l\n' \) | LC_ALL=C sort)
}
check='cd / && exec karpwarden check --format json --fail-on never examples'
(cd "$root" && "$native" check --format json --fail-on never examples) > "$work/native.json"
if inside sh -c 'command -v cargo rustc cc'; then echo "the root has a compiler" >&2; exit 1; fi

# used NAME: the package that was just installed answers as the native program.
used() {
  inside sh -c "$check" > "$work/$1.json"
  cmp "$work/native.json" "$work/$1.json"
}
# removed NAME: the root has the files that it had before.
removed() { files > "$work/after" && diff -u "$work/before" "$work/after" || { echo "$1 leaves files behind" >&2; exit 1; }; }

files > "$work/before"
for package in "${packages[@]}"; do
  case $package in
    *.deb)
      say "dpkg"
      inside sh -c 'dpkg --install /dist/*.deb' > "$work/log"
      used deb
      for file in man/man1/karpwarden.1.gz bash-completion/completions/karpwarden fish/vendor_completions.d/karpwarden.fish \
        zsh/vendor-completions/_karpwarden doc/karpwarden/copyright; do
        # minbase has no rule that leaves out documentation.
        test -s "$root/usr/share/$file" || { echo "no $file" >&2; exit 1; }
      done
      inside dpkg --purge karpwarden > "$work/log"
      removed "the Debian package"
      ;;
    *.whl)
      say "pip"
      pip="pip --disable-pip-version-check --quiet"
      inside sh -c "$pip install --break-system-packages --root-user-action=ignore --no-index --find-links /dist karpwarden"
      used whl
      inside sh -c "$pip uninstall --yes --break-system-packages --root-user-action=ignore karpwarden"
      removed "the wheel"
      ;;
    *.tgz)
      say "npm"
      inside sh -c 'npm install --silent --global /dist/karpwarden-*.tgz'
      used tgz
      inside npm uninstall --silent --global karpwarden
      removed "the npm package"
      ;;
  esac
done
say "the packages answer alike in a clean root, and leave nothing behind"
