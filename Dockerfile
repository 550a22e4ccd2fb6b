# An image in which the command line is ready: a wheel is built, installed without build tools, and its loops compiled.
#     docker build -t graphclust .
#     docker run --rm -i graphclust cluster - -k 20 -o - < graph.mtx > labels.tsv
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY graphclust graphclust
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels && useradd --create-home --uid 1000 graphclust
# Read by any user, on a read-only file system too, and made for any processor of this kind.
RUN NUMBA_CPU_NAME=generic graphclust compile --into /opt/graphclust-loops
ENV GRAPHCLUST_LOOPS=/opt/graphclust-loops
USER graphclust
WORKDIR /work
ENTRYPOINT ["graphclust"]
CMD ["--help"]
