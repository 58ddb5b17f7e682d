# One image for backend and collector: the wheel that `make wheel` has put into dist/ with the locked
# dependencies, in a folder that belongs to root, and of Debian what these load.
FROM debian:bookworm-slim AS made
RUN apt-get update && apt-get install -y --no-install-recommends binutils ca-certificates python3-venv
COPY requirements.lock tools/make-installation tools/make-image dist/*.whl /tmp/tidscope/
RUN cd /tmp/tidscope && ./make-installation python3 /opt/tidscope requirements.lock *.whl && ./make-image /image

FROM scratch
# A volume that is mounted at /var/lib/tidscope takes its owner over.
COPY --from=made /image /
ENV PATH=/opt/tidscope/bin:/usr/bin PYTHONUNBUFFERED=1
USER 65534:65534
ENTRYPOINT ["tidscope"]
