.PHONY: help setup format check audit test test-all stress docs wheel
# The tests that show that a base install works, without torch or any other extra.
LIGHT_TESTS = $(addprefix tests/unit/,test_package.py test_model_dir.py test_worker_pool.py storage config presets \
	formats corpus rouge search engine evaluation explain batch cli)

help:      ## list these targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/: *[^#]*## /	/'
setup:     ## install the package with every extra the tests need, and the commit hooks
	python -m pip install -e '.[dev]' && pre-commit install
format:    ## rewrite to house style
	ruff format . && ruff check --fix .
check:     ## everything CI checks except tests
	ruff format --check . && ruff check . && mypy && lint-imports && bandit -q -c pyproject.toml -r src
audit:     ## look for unsafe code, and for known weaknesses of what is installed (needs the network)
	bandit -q -c pyproject.toml -r src && pip-audit
test:      ## unit tests, about a minute
	pytest -n 2 -m "not slow and not distributed and not stress and not gpu" tests/unit
test-all:  ## all tests but the stress tests, about ten minutes
	pytest -n 2 -m "not stress and not gpu"
stress:    ## long fuzzing, repeated kills and full disks, about half an hour
	pytest -n 2 -m "stress and not gpu"
docs:      ## write the reference pages and build the site in build/site; a warning is an error
	python docs/site/reference.py && rm -rf build/site
	python -m sphinx --fail-on-warning --keep-going --nitpicky --fresh-env --quiet -d build/doctrees docs build/site
wheel:     ## build the wheel and run the light tests against it in an environment without extras
	rm -rf build/wheel && python3 -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet build
	.venv-wheel/bin/python -m build --wheel --outdir build/wheel .
	python3 -m venv --clear .venv-base
	.venv-base/bin/python -m pip install --quiet build/wheel/readagain-*.whl pytest pytest-xdist hypothesis
	.venv-base/bin/python tests/import_light_modules.py
	.venv-base/bin/python -m pytest -n 2 -m "not slow and not distributed and not needs_extras" $(LIGHT_TESTS)
