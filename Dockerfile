# Builds the image of the service: `docker build -t candidate-onboarding-service .`
# If npm needs settings, for example a private registry: `--secret id=npmrc,src=$HOME/.npmrc`.
# The base image is named by digest, so that a moved tag changes nothing. Update tag and digest for Node's security releases.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

FROM $NODE_IMAGE AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=npmrc NPM_CONFIG_USERCONFIG=/run/secrets/npmrc npm ci
COPY tsconfig.json CHANGELOG.md ./
COPY src src
COPY .ci/sbom.ts .ci/
RUN npx tsx src/dev/bundle.ts && npx tsx src/site/render/main.ts dist/pages.bin && npx tsx .ci/sbom.ts > sbom.cdx.json
# The production packages have 325 MB. The service reads 83 of them: the typesetter (52) and the fonts that it uses (31).
RUN npm prune --omit=dev && node src/pack/slim-packages.ts

# Removes what only builds need, and the setuid bits, which give a program more rights than its caller has.
FROM $NODE_IMAGE AS runtime
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx \
  /usr/local/bin/corepack /usr/local/bin/yarn* && find / -xdev -type f -perm /6000 -exec chmod ug-s {} +

# Starts from scratch: what a layer removes stays in the layer below it, where scanners find it and pulls download it.
FROM scratch
COPY --from=runtime / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV NODE_ENV=production ADMIN_ACTOR_REQUIRED=true
WORKDIR /app
COPY package.json LICENSE NOTICE ./
COPY lua lua
COPY src/pack/pack.typ src/pack/
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sbom.cdx.json ./
# By number, so that Kubernetes can check runAsNonRoot. The files belong to root: the service writes none.
USER 1000:1000
EXPOSE 8080 9090
# Asks /livez: Docker Swarm restarts an unhealthy container, and a restart does not end an outage of Redis or MongoDB.
# /livez is also 200 while the service starts, so `healthy` does not mean that it serves. HAProxy asks /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "const { HOST = '', OPS_PORT } = process.env; const host = ['', '::', '0.0.0.0'].includes(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST; fetch(`http://${host}:${OPS_PORT || 9090}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The exec form runs node as process 1, so SIGTERM reaches it and it drains. V8 counts Buffers towards the heap. With a small
# heap, pages of the list therefore cause a full garbage collection every few pages. Below 192 MB, V8 now runs none.
CMD ["node", "--initial-old-space-size=192", "dist/main.js"]
# Last, because they change with every commit.
ARG VERSION=0.0.0 REVISION=unknown
LABEL org.opencontainers.image.title="Candidate Onboarding Service" \
  org.opencontainers.image.description="Mirrors a hiring pipeline over HTTP, with rate limits that hold exactly on any number of replicas" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION"
