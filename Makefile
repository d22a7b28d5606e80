# Each of these is one habit; `make check` is the whole loop.
PYTHON ?= .venv/bin/python

.PHONY: check test whole costs lint types soak fuzz day days endless kills serve bench real shots tour demo pictures lock

check: ; python3 run.py test
test: ; $(PYTHON) checks.py --only test
lint: ; $(PYTHON) checks.py --only format && $(PYTHON) checks.py --only lint && $(PYTHON) checks.py --only imports
types: ; $(PYTHON) checks.py --only types
soak: ; PALIMPSEST_SOAK=1 $(PYTHON) -m pytest -q -m "soak or hypothesis" --timeout 1800 -n auto --dist worksteal
whole: ; PALIMPSEST_PART=all $(PYTHON) checks.py --only test
costs: ; rm -rf .costs && mkdir .costs && TEST_COSTS=.costs $(PYTHON) -m pytest -q -n auto -p tests.measure_costs -m "not soak" ; \
	$(PYTHON) -m tests.measure_costs .costs && rm -r .costs
fuzz: ; $(PYTHON) -m tests.fuzz --seconds $(or $(SECONDS_EACH),600) $(TARGETS)
kills: ; $(PYTHON) -m pytest tests/agent/test_compaction_kills.py tests/agent/observations/test_observer_kills.py -q -s -m soak --timeout 1800
day: ; $(PYTHON) -m pytest tests/tui/test_long_session.py -q -s -m soak --timeout 7200
days: ; $(PYTHON) -m pytest tests/e2e/test_a_day.py -q -s -m soak --timeout 3600
endless: ; $(PYTHON) -m pytest tests/e2e/test_endless_loop.py -q -s -m soak --timeout 1800
serve: ; python3 run.py --workspace demo
bench: ; $(PYTHON) -m benchmarks
real: ; @$(PYTHON) -m benchmarks.real $(MODELS)
shots: ; $(PYTHON) -m scripts.shots shots
tour: ; $(PYTHON) -m scripts.shots docs/tour tour
demo: ; $(PYTHON) -m scripts.record_demo $(MODEL) docs/demo.svg
pictures: ; $(PYTHON) -m scripts.picture_pages pictures

# Versions and hashes, no addresses (needs `pip install uv`).
lock:
	uv pip compile pyproject.toml requirements/build.in --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header -q -o requirements/core.txt
	uv pip compile pyproject.toml requirements/build.in --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header -q -o requirements/dev.txt
