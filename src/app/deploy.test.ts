// The deployment files (image, compose, units, manifests, proxies) name only settings, files and
// commands that exist.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { MEGABYTE } from '#platform/http/app.ts'
import { textBodyBytesMax } from '#platform/http/bodies.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** The package that descriptions are written with brings it. */
const { parseAllDocuments } = createRequire(
  createRequire(import.meta.url).resolve('@fastify/swagger'),
)('yaml')
// biome-ignore lint/suspicious/noExplicitAny: Kubernetes defines the shape of a manifest.
type Manifest = any
const parse = (path: string): Manifest[] =>
  parseAllDocuments(read(path)).map((document: { toJS(): Manifest }) => document.toJS())
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const FILES = ['Dockerfile', 'compose.yaml', ...globSync('deploy/**/*.*', { cwd: ROOT })]

/** Of the base image, of other containers, and of Node. */
const FOREIGN = /^(POSTGRES_\w+|BACKUP_TO|NODE_COMPILE_CACHE)$/

test('every setting in the deployment files is in .env.example', () => {
  const known = new Set(
    [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name),
  )
  const wrong: string[] = []
  let count = 0
  for (const file of FILES) {
    const text = read(file)
    const assigned = text.matchAll(
      /(?:^|[\s"'{(-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:_FILE)?(?=[=:]\s?\S)/gm,
    )
    for (const [, name = ''] of assigned) {
      count++
      const setting = name.replace(/_FILE$/, '')
      if (!known.has(setting) && !FOREIGN.test(setting)) wrong.push(`${file}: ${name}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(count > 25, `${count} settings`)
})

test('with PostgreSQL, uploaded files need a location that every node can read', () => {
  const manifest = read('deploy/kubernetes/latchkey.yaml')
  assert.match(manifest, /^ {2}ORIGINALS_DIR: s3:\/\/\S+$/m)
  // All pods, the backup too, have the settings of the one map.
  const pods = [...manifest.matchAll(/image: registry/g)].length
  assert.equal(
    [...manifest.matchAll(/envFrom: \[\{ configMapRef: \{ name: latchkey \} \}/g)].length,
    pods,
  )
  assert.match(read('compose.yaml'), /ORIGINALS_DIR: \$\{ORIGINALS_DIR:-\/data\/originals\}/)
  assert.match(read('compose.yaml'), /volumes: \['data:\/data'\]/)
})

test('every copied file exists, and the image holds only files that .dockerignore admits', () => {
  const dockerfile = read('Dockerfile')
  const copied = [...dockerfile.matchAll(/^COPY --from=build (.+) \S+$/gm)].flatMap(
    ([, list = '']) => list.split(' '),
  )
  const ours = copied
    .filter((path) => path.startsWith('/build/'))
    .map((path) => path.slice('/build/'.length))
  assert.ok(
    ['src', 'dist', 'web/dist'].every((path) => ours.includes(path)),
    ours.join(),
  )
  for (const path of ours) {
    if (!/^(node_modules|dist|web\/dist)$/.test(path)) assert.ok(existsSync(join(ROOT, path)), path)
  }
  // Secrets, data and what only develops it never reach the builder.
  const ignored = read('.dockerignore').split('\n')
  for (const path of ['.env', '.git', 'data', 'secrets', 'node_modules'])
    assert.ok(ignored.includes(path), path)
  assert.match(dockerfile, /^USER 65532:65532$/m)
  assert.ok(dockerfile.lastIndexOf('\nUSER ') > dockerfile.lastIndexOf('\nFROM '))

  for (const file of FILES) {
    for (const [, command = ''] of read(file).matchAll(/src\/cli\/main\.ts,? (\w+)/g)) {
      assert.ok(existsSync(join(ROOT, 'src', 'cli', `${command}.ts`)), `${file}: ${command}`)
    }
  }
})

/** Libraries of the base image: glibc, libstdc++ and the C++ runtime. */
const OF_THE_BASE = /^(?:linux-vdso|ld-linux.*|lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so/

test('the image has every library that its programs are linked with', {
  skip: process.platform !== 'linux' && 'asked of Linux',
}, () => {
  const copied = read('Dockerfile')
  const native = globSync(
    `node_modules/{usearch/prebuilds/linux-${process.arch},@napi-rs/*-gnu}/*.node`,
    { cwd: ROOT },
  )
  assert.ok(native.length > 1, native.join())
  for (const program of [process.execPath, ...native.map((path) => join(ROOT, path))]) {
    const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
    const libraries = [...stdout.matchAll(/^\s*(?:\/\S*\/)?(\S+\.so\S*)/gm)].map(
      ([, name = '']) => name,
    )
    assert.ok(libraries.length > 2, `${program}: ${stdout}`)
    for (const name of libraries) {
      const isThere =
        OF_THE_BASE.test(name) ||
        copied.includes(`COPY --from=build /usr/local/lib/${name} /usr/lib/${name}`)
      assert.ok(isThere, `${program} wants ${name}`)
    }
  }
})

test('on Kubernetes every pod has bounds, is watched, and is reached by those alone who must', () => {
  const manifest = parse('deploy/kubernetes/latchkey.yaml')
  const pods = manifest.flatMap(({ kind, spec }) =>
    kind === 'Deployment'
      ? [spec.template]
      : kind === 'CronJob'
        ? [spec.jobTemplate.spec.template]
        : [],
  )
  assert.equal(pods.length, 3)
  const isChosen = (labels: Record<string, string>, wanted: Record<string, string>) =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value)
  const policies = manifest.filter(({ kind }) => kind === 'NetworkPolicy')
  const [monitor] = parse('deploy/kubernetes/prometheus-operator/latchkey.yaml')
  const scraped = monitor.spec.podMetricsEndpoints.map(({ port }: { port: string }) => port)
  for (const { metadata, spec } of pods) {
    const { labels } = metadata
    const [container] = spec.containers
    assert.ok(container.resources.requests.memory && container.resources.limits.memory, labels.app)
    assert.ok(
      policies.some((policy) => isChosen(labels, policy.spec.podSelector.matchLabels)),
      labels.app,
    )
    if (labels.app === 'latchkey-backup') continue
    assert.ok(isChosen(labels, monitor.spec.selector.matchLabels), labels.app)
    assert.equal(
      container.ports.filter(({ name }: { name: string }) => scraped.includes(name)).length,
      1,
      labels.app,
    )
    for (const one of spec.topologySpreadConstraints)
      assert.deepEqual(one.labelSelector.matchLabels, { app: labels.app })
  }
})

test('no process manager kills the service before its drain has ended', () => {
  const seconds = (path: string, pattern: RegExp) => Number(pattern.exec(read(path))?.[1])
  // Production's defaults of DRAIN.
  const drain = 5 + 30
  assert.ok(seconds('compose.yaml', /stop_grace_period: (\d+)s/) > drain)
  assert.ok(seconds('deploy/latchkey.service', /TimeoutStopSec=(\d+)/) > drain)
  const manifest = 'deploy/kubernetes/latchkey.yaml'
  const ofPods =
    seconds(manifest, /DRAIN: .*delay_s=(\d+)/) + seconds(manifest, /DRAIN: .*running_s=(\d+)/)
  assert.ok(seconds(manifest, /terminationGracePeriodSeconds: (\d+)/) > ofPods)
  assert.equal(
    [...read(manifest).matchAll(/terminationGracePeriodSeconds/g)].length,
    2,
    'of both deployments',
  )
})

test('the handbook names what there is', () => {
  const text = read('docs/operations.md')
  for (const [, path = ''] of text.matchAll(/\]\(\.\.\/([^)#]+)/g))
    assert.ok(existsSync(join(ROOT, path)), path)
  for (const [, command = ''] of text.matchAll(/npm run (?:-s )?cli -- (\w+)/g))
    assert.ok(existsSync(join(ROOT, 'src', 'cli', `${command}.ts`)), command)
})

test('proxies let through the longest body that the service accepts', () => {
  const { maxTextBytes, maxFileBytes, maxAiBodyBytes } = readConfig({})
  const longestMb = Math.ceil(
    Math.max(textBodyBytesMax(maxTextBytes), maxFileBytes + MEGABYTE, maxAiBodyBytes) / MEGABYTE,
  )
  const numbers = [
    ['deploy/nginx.conf', /client_max_body_size (\d+)m;/],
    ['deploy/kubernetes/latchkey.yaml', /proxy-body-size: (\d+)m/],
    ['deploy/Caddyfile', /limits hold: (\d+) MB/],
    ['docs/operations.md', /let\s+(\d+) MB of a request through/],
  ] as const
  for (const [file, pattern] of numbers) {
    const allowedMb = Number(pattern.exec(read(file))?.[1])
    assert.ok(
      allowedMb >= longestMb && allowedMb < longestMb + 10,
      `${file}: ${allowedMb} MB, and ${longestMb} MB may come`,
    )
  }
  // Without request_body Caddy has no limit.
  assert.doesNotMatch(read('deploy/Caddyfile'), /request_body|max_size/)
})
