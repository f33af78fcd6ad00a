# Not tried by its authors: no container runtime was at hand. The steps are those of the README.
# The sandbox makes namespaces of its own, which a container's default seccomp profile may forbid; `stage=doctor` says so,
# and `--security-opt seccomp=unconfined --security-opt systempaths=unconfined` lets it (sandbox/README.md).
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
WORKDIR /proceval
COPY . .
RUN pip install --no-cache-dir -e .
RUN useradd --create-home guest && chown -R guest /proceval
USER guest
ENTRYPOINT ["python", "-m", "proceval"]
CMD ["stage=doctor"]
