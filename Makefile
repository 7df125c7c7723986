.PHONY: help setup format check audit test test-all stress docs dist wheel lock sbom
# The tests that show that a base install works, without torch or any other extra.
LIGHT_TESTS = $(addprefix tests/unit/,test_package.py test_model_dir.py test_worker_pool.py storage config presets \
	formats corpus rouge search engine evaluation explain batch cli)

LOCK = --quiet --upgrade --generate-hashes --python-version 3.11 --python-platform linux \
	--custom-compile-command 'make lock'

help:      ## list these targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/: *[^#]*## /	/'
setup:     ## install the package with every extra the tests need, and the commit hooks
	python -m pip install -e '.[dev]' && pre-commit install
format:    ## format the code
	ruff format . && ruff check --fix .
check:     ## everything CI checks except tests
	ruff format --check . && ruff check . && lint-imports && bandit -q -c pyproject.toml -r src
	mypy && mypy --platform win32 --cache-dir .mypy_cache/win32
audit:     ## check for unsafe calls and for known vulnerabilities of installed packages (needs the network)
	bandit -q -c pyproject.toml -r src && pip-audit
test:      ## unit tests, about a minute
	pytest -n 2 -m "not slow and not distributed and not stress and not gpu" tests/unit
test-all:  ## all tests but the stress tests, about ten minutes
	pytest -n 2 -m "not stress and not gpu"
stress:    ## long fuzzing, repeated kills, every failing operation, about an hour
	pytest -n 2 -m "stress and not gpu"
docs:      ## write the reference pages and build the site in build/site; a warning is an error
	python docs/site/reference.py && rm -rf build/site
	python -m sphinx --fail-on-warning --keep-going --nitpicky --fresh-env --quiet -d build/doctrees docs build/site
dist:      ## build the wheel and the source distribution, twice, and compare their bytes
	rm -rf build/dist build/again && mkdir -p build/again && python3 -m venv --clear .venv-build
	.venv-build/bin/python -m pip install --quiet --require-hashes -r deploy/requirements-build.txt
	.venv-build/bin/python -m build --no-isolation --outdir build/dist .
	tar -xzf build/dist/readagain-*.tar.gz -C build/again
	umask 077 && TZ=Asia/Tokyo .venv-build/bin/python -m build --no-isolation --outdir build/again build/again/readagain-*/
	cd build/dist && for file in *; do cmp "$$file" "../again/$$file" || exit 1; done && sha256sum *
wheel: dist ## install the wheel without extras and run the tests that need none
	python3 -m venv --clear .venv-base
	.venv-base/bin/python -m pip install --quiet build/dist/readagain-*.whl pytest pytest-xdist hypothesis
	.venv-base/bin/python tests/import_light_modules.py
	.venv-base/bin/python -m pytest -n 2 -m "not slow and not distributed and not needs_extras" $(LIGHT_TESTS)
lock:      ## pin, with hashes, the packages that the server image and the builds install
	python3 -m venv --clear .venv-lock && .venv-lock/bin/python -m pip install --quiet uv
	.venv-lock/bin/uv pip compile $(LOCK) --extra serve pyproject.toml -o deploy/requirements-server.txt
	echo 'build hatchling' | tr ' ' '\n' | .venv-lock/bin/uv pip compile $(LOCK) - -o deploy/requirements-build.txt
sbom:      ## write the bill of materials of the server image, build/sbom.json (CycloneDX)
	mkdir -p build && python3 -m venv --clear .venv-sbom && python3 -m venv --clear --without-pip .venv-server
	.venv-sbom/bin/python -m pip install --quiet cyclonedx-bom
	.venv-sbom/bin/python -m pip --python .venv-server/bin/python install --quiet \
		--require-hashes -r deploy/requirements-server.txt
	.venv-sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		-o build/sbom.json .venv-server/bin/python
