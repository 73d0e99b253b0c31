# syntax=docker/dockerfile:1
# Builds with npm and runs without it: the service's packages, the user app, and the Node that package-lock.json names.
FROM node:26-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY scripts/trim.ts scripts/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build
RUN cp node_modules/node/bin/node /usr/local/bin/latchkey-node && strip /usr/local/bin/latchkey-node
RUN npm prune --omit=dev --no-audit --no-fund && latchkey-node scripts/trim.ts && rm -r node_modules/node && mkdir /data
# Node needs libatomic, which the final base image lacks.
RUN cp /lib/*-linux-gnu/libatomic.so.1 /usr/local/lib/libatomic.so.1

# The service's commands with pg_dump and pg_restore, for backups of PostgreSQL 17 and older:
#   docker build --target backup -t latchkey-backup .
FROM postgres:17-bookworm AS backup
WORKDIR /app
COPY --from=build /usr/local/bin/latchkey-node /usr/local/bin/node
COPY --from=build /usr/local/lib/libatomic.so.1 /usr/lib/libatomic.so.1
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/package.json ./
COPY --from=build /build/src ./src
COPY --from=build --chown=65532:65532 /data /data
ENV NODE_ENV=production DATA_DIR=/data
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/node"]

# glibc and libstdc++, no shell; its user `nonroot` is 65532.
FROM gcr.io/distroless/cc-debian12:nonroot
WORKDIR /app
COPY --from=build /usr/local/bin/latchkey-node /usr/local/bin/node
COPY --from=build /usr/local/lib/libatomic.so.1 /usr/lib/libatomic.so.1
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/package.json /build/latchkey.js ./
COPY --from=build /build/docs ./docs
COPY --from=build /build/web/dist ./web/dist
COPY --from=build /build/src ./src
COPY --from=build /build/dist ./dist
COPY --from=build --chown=65532:65532 /data /data
# The service writes to /data only, and compiled code to /tmp if it exists.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 8000 8001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["/usr/local/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Commands: docker run … latchkey src/cli/main.ts doctor
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=8"]
CMD ["latchkey.js"]
