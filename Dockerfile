# One image for backend and collector: Debian's Python, and the wheel that `make wheel` has put into
# dist/ with the locked dependencies, in a folder that belongs to root.
FROM debian:bookworm-slim AS packages
RUN apt-get update && apt-get install -y --no-install-recommends binutils ca-certificates python3-venv
COPY requirements.lock tools/make-installation dist/*.whl /tmp/tidscope/
RUN cd /tmp/tidscope && ./make-installation python3 /opt/tidscope requirements.lock *.whl \
    && /opt/tidscope/bin/python -m compileall -q /opt/tidscope/lib

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
COPY --from=packages /opt/tidscope /opt/tidscope
# A volume that is mounted there takes its owner over.
RUN install -d -o 65534 -g 65534 -m 700 /var/lib/tidscope /var/lib/tidscope/runs
ENV PATH=/opt/tidscope/bin:$PATH PYTHONUNBUFFERED=1
USER 65534:65534
ENTRYPOINT ["tidscope"]
