# One image for backend and collector: the same wheel, with the page in it.
FROM node:22-slim AS page
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm install --no-save --no-audit --no-fund
COPY frontend frontend
RUN npm run build

FROM python:3.12-slim AS wheel
WORKDIR /src
COPY requirements-dev.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements-dev.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY LICENSES LICENSES
COPY shared shared
COPY collector/tidscope_collector collector/tidscope_collector
COPY backend/tidscope_backend backend/tidscope_backend
COPY --from=page /src/backend/tidscope_backend/web backend/tidscope_backend/web
RUN python -m hatchling build -t wheel

FROM python:3.12-slim
# libbpf: network bytes of threads
RUN apt-get update && apt-get install -y --no-install-recommends libbpf1 && rm -rf /var/lib/apt/lists/*
COPY requirements.lock /tmp/
RUN pip install --no-cache-dir --require-hashes -r /tmp/requirements.lock
COPY --from=wheel /src/dist/*.whl /tmp/
RUN pip install --no-cache-dir --no-deps /tmp/*.whl && rm /tmp/*.whl /tmp/requirements.lock
# A volume that is mounted there takes its owner over.
RUN install -d -o 65534 -g 65534 -m 700 /var/lib/tidscope /var/lib/tidscope/runs
ENV PYTHONUNBUFFERED=1
USER 65534:65534
ENTRYPOINT ["tidscope"]
