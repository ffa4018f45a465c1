# The service in a container: `docker build -t showdown-serve .`; docs/deploy.md says how to run it.
# Two stages, so that what builds the package is not in what runs.
FROM python:3.12-slim AS build
WORKDIR /source
RUN python -m venv /opt/showdown
COPY requirements-serve.txt ./
RUN /opt/showdown/bin/pip install --no-cache-dir --require-hashes -r requirements-serve.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/showdown/bin/pip install --no-cache-dir --no-deps .

FROM python:3.12-slim
COPY --from=build /opt/showdown /opt/showdown
RUN useradd --uid 10001 --user-group --no-create-home showdown && install --directory --owner=showdown /agent
USER showdown
WORKDIR /agent
# Compiled programs are kept beside the agent, so a new container of the same agent starts quickly
ENV PATH=/opt/showdown/bin:$PATH SHOWDOWN_CACHE=/agent/.cache
VOLUME /agent
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["showdown", "serve", "--host", "0.0.0.0", "--port", "8000"]
CMD ["agent.json", "--journal", "journal"]
