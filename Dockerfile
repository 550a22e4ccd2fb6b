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
USER graphclust
# Loops are kept in the home folder of the user who compiles them: numba takes none from a folder that it cannot write.
RUN graphclust compile
WORKDIR /work
ENTRYPOINT ["graphclust"]
CMD ["--help"]
