FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npx tsc --project tsconfig.build.json

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force
COPY lua lua
COPY src/pack/pack.typ src/pack/press.mjs src/pack/
COPY --from=build /app/dist dist
USER node
EXPOSE 8080 9090
# The exec form runs node as process 1, so SIGTERM reaches it and it drains.
CMD ["node", "dist/main.js"]
