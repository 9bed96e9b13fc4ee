#!/usr/bin/env bash
# kate.sh KARPWARDEN: drives the language server in Kate as a person would, on a display without a screen: the definition of a name, a hover, the fix of
# a finding, and a completion. Needs kate, Xvfb, openbox, xdotool and dbus-run-session.
set -euo pipefail
command=$(realpath "$1")
work=$(mktemp -d)
mkdir -p "$work/home/.config/kate/lspclient" "$work/run" "$work/folder"
chmod 700 "$work/run"
children=()
end() {
  kill "${children[@]}" 2> /dev/null || true
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap end EXIT
fail() {
  printf '%s\n' "$*" >&2
  tail -n 5 "$work/kate.log" >&2
  exit 1
}
# until_true COMMAND…: waits until a command succeeds.
until_true() {
  for _ in $(seq 200); do
    if "$@" > /dev/null 2>&1; then return; fi
    sleep 0.1
  done
  fail "never true: $*"
}

# What the server is asked, and what it says.
cat > "$work/server" <<SERVER
#!/bin/sh
tee -a "$work/asked" | "$command" lsp | tee -a "$work/said"
SERVER
chmod +x "$work/server"
cat > "$work/home/.config/kate/lspclient/settings.json" <<SETTINGS
{"servers": {"yaml": {
  "command": ["$work/server"], "rootIndicationFileNames": ["karpwarden.yaml"], "highlightingModeRegex": "^YAML$"
}}}
SETTINGS
cat > "$work/home/.config/katerc" <<SETTINGS
[General]
Show welcome view for new window=false
[Kate Plugins]
lspclientplugin=true
[lspclient]
AllowedServerCommandLines=$work/server
SETTINGS
cd "$work/folder"
echo 'karpenterVersion: "1.14"' > karpwarden.yaml
cat > pool.yaml <<POOL
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
POOL
cat > class.yaml <<CLASS
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
CLASS

export DISPLAY=:${DISPLAY_NUMBER:-77} HOME=$work/home XDG_RUNTIME_DIR=$work/run
Xvfb "$DISPLAY" -screen 0 1400x900x24 > /dev/null 2>&1 & children+=($!)
until_true xdotool getdisplaygeometry
openbox > /dev/null 2>&1 & children+=($!)
dbus-run-session kate --new pool.yaml > "$work/kate.log" 2>&1 & children+=($!)
until_true xdotool search --name pool.yaml
until_true grep -q documentSymbol "$work/asked"
window=$(xdotool search --name pool.yaml | tail -n 1)
xdotool windowactivate --sync "$window"
# press KEY…: types keys, each after Kate has handled the one before.
press() { for key in "$@"; do xdotool key "$key"; sleep 0.2; done; }
# go LINE CHARACTERS: goes to a place of the document.
go() {
  press ctrl+g
  xdotool type "$1"
  press Return Escape Home Home
  for _ in $(seq "$2"); do xdotool key Right; done
  sleep 0.5
}

go 7 75
press alt+l g
until_true xdotool search --name class.yaml
echo 'Kate goes from a NodePool to its EC2NodeClass'
until_true grep -q instance-profile-is-arn "$work/said"
echo 'Kate gets the finding'

go 6 25
press alt+l y
until_true grep -q textDocument/hover "$work/asked"
until_true grep -q 'spec.instanceProfile' "$work/said"
echo 'Kate shows the field'

press Escape
go 6 25
press alt+Return
until_true grep -q 'write the profile' "$work/said"
sleep 0.5
press Down Return ctrl+s
until_true grep -qx '  instanceProfile: nodes' class.yaml
echo 'Kate applies the fix'

press End Return
xdotool type bloc
sleep 0.5
press ctrl+space
until_true grep -q '"label":"blockDeviceMappings"' "$work/said"
sleep 0.5
press Return ctrl+s
until_true grep -q '^  blockDeviceMappings' class.yaml
echo 'Kate completes a field'
