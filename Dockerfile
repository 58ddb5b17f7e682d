# One image for backend and collector: Debian's packages, and the wheel that `make wheel` has put
# into dist/, installed with the locked dependencies in a folder that belongs to root.
FROM debian:bookworm-slim
# libbpf: network bytes of threads
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libbpf1 python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.lock dist/*.whl /tmp/tidscope/
RUN python3 -m venv /opt/tidscope \
    && /opt/tidscope/bin/pip install --no-cache-dir --require-hashes -r /tmp/tidscope/requirements.lock \
    && /opt/tidscope/bin/pip install --no-cache-dir --no-deps /tmp/tidscope/*.whl \
    && rm -r /tmp/tidscope
# A volume that is mounted there takes its owner over.
RUN install -d -o 65534 -g 65534 -m 700 /var/lib/tidscope /var/lib/tidscope/runs
ENV PATH=/opt/tidscope/bin:$PATH PYTHONUNBUFFERED=1
USER 65534:65534
ENTRYPOINT ["tidscope"]
