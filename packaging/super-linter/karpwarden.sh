#!/usr/bin/env bash
# Karpwarden in super-linter, which has no plugins: the lines for its repository, each under the file that gets it
# (docs/add-new-linter.md there). `dependencies/python/karpwarden.txt` has the line `karpwarden==1.0.0`.
# shellcheck disable=SC2034

# Dockerfile: ENV PATH="${PATH}:/venvs/karpwarden/bin"

# lib/globals/languages.sh, in LANGUAGES_ARRAY: "KUBERNETES_KARPWARDEN"

# lib/functions/linterCommands.sh
LINTER_COMMANDS_ARRAY_KUBERNETES_KARPWARDEN=(karpwarden check --force-exclude)

# lib/globals/linterCommandsOptions.sh
KUBERNETES_KARPWARDEN_FIX_MODE_OPTIONS=(--fix)

# lib/functions/buildFileList.sh, beside the files of the other linter of Kubernetes:
#   echo "${FILE}" >>"${FILE_ARRAYS_DIRECTORY_PATH}/file-array-KUBERNETES_KARPWARDEN"

# scripts/linterVersions.sh
linter_version() {
  karpwarden --version | awk '{ print $2 }'
}
