# An image in which the command line is ready: a wheel is built, installed without build tools, and its loops compiled.
#     docker build -t graphclust .
#     docker run --rm -v "$PWD:/work" graphclust cluster graph.mtx.gz -k 20 -o labels.tsv
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY graphclust graphclust
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels && useradd --create-home graphclust
USER graphclust
# Loops are kept in the home folder of the user who runs them, since the package's own folder is not that user's.
RUN graphclust compile
WORKDIR /work
ENTRYPOINT ["graphclust"]
CMD ["--help"]
