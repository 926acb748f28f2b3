# The server in a container: memories in the volume /data, tokens from a file that `evimem token` made.
#
#   docker build -t evimem .
#   docker run -p 8766:8766 -v evimem:/data -v ./tokens.txt:/etc/evimem/tokens.txt:ro evimem
#
# No test builds it.
FROM python:3.12.8-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY evimem ./evimem
COPY benchmarks ./benchmarks
COPY prompts ./prompts
RUN python -m venv /opt/evimem \
    && /opt/evimem/bin/pip install --no-cache-dir --disable-pip-version-check '.[server,mcp,postgres,openai]'

FROM python:3.12.8-slim-bookworm
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin evimem \
    && install -d -o evimem -g evimem -m 0700 /data
COPY --from=build /opt/evimem /opt/evimem
ENV PATH=/opt/evimem/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
USER evimem
VOLUME /data
EXPOSE 8766
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8766/healthz', timeout=4)"]
ENTRYPOINT ["evimem"]
CMD ["serve", "--pool", "/data", "--host", "0.0.0.0", "--tokens", "/etc/evimem/tokens.txt"]
