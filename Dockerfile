# scopeagent in a small image: docker build -t scopeagent . && docker run --rm -v "$PWD:/jobs:ro" scopeagent analyze /jobs/JOB
ARG RUST=1.95

FROM rust:${RUST}-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package scopeagent \
    && mkdir /out && cp target/release/scopeagent /out/

FROM debian:bookworm-slim
RUN useradd --uid 10001 --create-home scopeagent && mkdir /data && chown scopeagent /data
COPY --from=build /out/scopeagent /usr/local/bin/scopeagent
USER 10001
ENV XDG_DATA_HOME=/data
VOLUME /data
WORKDIR /jobs
ENTRYPOINT ["scopeagent"]
