// Runs the contents of the image as the image starts them: a separate read-only root, user 65532,
// and only /data and /tmp writable. It must serve, pass its health check, run a command, end on
// SIGTERM and have at most 300 MB. docker or podman builds the image when the base images are
// present. Otherwise the bench runs the Dockerfile's commands in a fresh checkout and takes the
// base libraries from this machine. Needs Linux and root.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, ROOT } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'the image, built from a fresh checkout and run read-only without privileges'

const BYTES_MAX = 300e6
const GONE_MS = 40_000

export async function run(): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    console.log('Changing the root folder needs Linux and root.')
    return
  }
  const work = mkdtempSync(join(tmpdir(), 'latchkey-image-'))
  try {
    const lines = parseLines(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))
    const root = join(work, 'root')
    mkdirSync(root)
    const tool = findBuildTool(lines)
    console.log(
      tool === null
        ? 'Built without docker or podman, which lack the base images here'
        : `Built by ${tool}`,
    )
    if (tool !== null) buildImage(tool, work, root)
    else {
      build(lines, work, root)
      layBase(root)
    }
    for (const folder of ['proc', 'tmp', 'dev']) mkdirSync(join(root, folder), { recursive: true })
    for (const file of ['dev/null', 'dev/urandom']) writeFileSync(join(root, file), '')
    await tryOut(lines, root, join(work, 'data'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

type Line = { word: string; rest: string }

function parseLines(dockerfile: string): Line[] {
  return dockerfile
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
      return word === '' ? [] : [{ word, rest }]
    })
}

/**
 * Returns null when no tool is installed, or a base image of the Dockerfile would have to be
 * downloaded.
 */
function findBuildTool(lines: readonly Line[]): string | null {
  const bases = lines
    .filter(({ word }) => word === 'FROM')
    .map(({ rest }) => rest.split(' ')[0] ?? '')
  const has = (tool: string) =>
    spawnSync(tool, ['image', 'inspect', ...bases], { stdio: 'ignore' }).status === 0
  return ['docker', 'podman'].find(has) ?? null
}

/** Builds the image from the commit and unpacks it into `root`. */
function buildImage(tool: string, work: string, root: string): void {
  const context = join(work, 'context')
  mkdirSync(context)
  execFileSync('sh', ['-c', 'git archive HEAD | tar -x -C "$1"', 'sh', context], { cwd: ROOT })
  // Without these settings podman creates a container per line, and its default format has no
  // health checks.
  const podman = { BUILDAH_ISOLATION: 'chroot', BUILDAH_LAYERS: 'false', BUILDAH_FORMAT: 'docker' }
  const env = { ...process.env, ...podman }
  const inherit = { env, stdio: ['ignore', 'ignore', 'inherit'] as const }
  execFileSync(tool, ['build', '-t', 'latchkey-bench', context], inherit as never)
  const container = execFileSync(tool, ['create', 'latchkey-bench'], { encoding: 'utf8' }).trim()
  try {
    execFileSync('sh', ['-c', '"$0" export "$1" | tar -x -C "$2"', tool, container, root])
  } finally {
    execFileSync(tool, ['rm', container], { stdio: 'ignore' })
    execFileSync(tool, ['rmi', 'latchkey-bench'], { stdio: 'ignore' })
  }
}

/**
 * Runs the commands of the first stage and copies the files of the second. /build and all other
 * folders are below `work`.
 */
function build(lines: readonly Line[], work: string, root: string): void {
  const stage = join(work, 'stage')
  const tree = join(stage, 'build')
  for (const folder of [tree, join(stage, 'usr/local/bin'), join(stage, 'usr/local/lib')])
    mkdirSync(folder, { recursive: true })
  execFileSync('sh', ['-c', 'git archive HEAD | tar -x -C "$1"', 'sh', tree], { cwd: ROOT })
  for (const path of readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter(Boolean)) {
    for (const ignored of globSync(path, { cwd: tree }))
      rmSync(join(tree, ignored), { recursive: true, force: true })
  }
  const second = lines.findLastIndex(({ word }) => word === 'FROM')
  const env = {
    HOME: work,
    PATH: `${join(stage, 'usr/local/bin')}:${process.env.PATH}`,
    ...certificates(),
  }
  for (const { word, rest } of lines.slice(0, second)) {
    if (word !== 'RUN') continue
    const begun = performance.now()
    const command = rest.replaceAll(/(?<=\s)\/(?=usr\/|data)/g, `${stage}/`)
    execFileSync('sh', ['-c', command], { cwd: tree, env, stdio: ['ignore', 'ignore', 'inherit'] })
    console.log(`  ${rest}: ${((performance.now() - begun) / 1_000).toFixed(0)} s`)
  }
  for (const { word, rest } of lines.slice(second)) {
    if (word !== 'COPY') continue
    const paths = rest.split(' ').filter((part) => !part.startsWith('--'))
    const to = paths.pop() ?? ''
    for (const path of paths) {
      const target = to.startsWith('/')
        ? join(root, to)
        : join(root, 'app', to.endsWith('/') ? join(to, basename(path)) : to)
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(stage, path), target, {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
      })
    }
  }
}

/** Certificate and registry settings of a machine whose proxy inspects traffic. */
function certificates(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'npm_config_registry']
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  )
}

/**
 * Libraries of the second base image. The Dockerfile has to copy all others that a program links.
 */
const OF_THE_BASE = /\/(?:ld-linux|lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp|ssl|crypto))[-.]/

/** Copies glibc and libstdc++ as far as the programs link them, certificates, and the user. */
function layBase(root: string): void {
  const programs = [
    join(root, 'usr/local/bin/node'),
    ...globSync('app/node_modules/**/*.node', { cwd: root }).map((path) => join(root, path)),
  ]
  for (const program of programs) {
    const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
    for (const [path] of stdout.matchAll(/(?<=\s)\/(?:usr\/)?lib\S+/g)) {
      const target = join(root, path)
      if (existsSync(target) || !OF_THE_BASE.test(path)) continue
      mkdirSync(dirname(target), { recursive: true })
      cpSync(realpathSync(path), target)
    }
  }
  mkdirSync(join(root, 'etc/ssl/certs'), { recursive: true })
  writeFileSync(
    join(root, 'etc/passwd'),
    'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
  )
}

async function tryOut(lines: readonly Line[], root: string, data: string): Promise<void> {
  const readInstruction = (name: string) => lines.findLast(({ word }) => word === name)?.rest ?? ''
  const words = (name: string) => JSON.parse(readInstruction(name)) as string[]
  mkdirSync(data)
  const [uid = '', gid = ''] = readInstruction('USER').split(':')
  chownSync(data, Number(uid), Number(gid))
  chmodSync(data, 0o700)
  const [port, storefrontPort] = [await freePort(), await freePort()]
  const env = {
    ...Object.fromEntries(
      readInstruction('ENV')
        .split(' ')
        .map((pair) => pair.split('=')),
    ),
    PORT: String(port),
    STOREFRONT_PORT: String(storefrontPort),
    SECRET_KEY: 's'.repeat(48),
    DRAIN: 'delay_s=1',
    BASE_URL: `http://127.0.0.1:${port}`,
    HOST: '127.0.0.1',
  }
  const mounts = `mount --make-rprivate / && mount --bind "$0" "$0" && mount --bind "$1" "$0/data" && mount -t tmpfs tmpfs "$0/tmp" \
    && mount --bind /dev/null "$0/dev/null" && mount --bind /dev/urandom "$0/dev/urandom" && mount --rbind /proc "$0/proc" \
    && mount -o remount,ro,bind "$0" && chmod 1777 "$0/tmp" && shift`
  const inside = (command: string[]) => [
    '--mount',
    'sh',
    '-c',
    `${mounts} && exec chroot --userspec=${uid}:${gid} "$0" "$@"`,
    root,
    data,
    ...command,
  ]
  const node = words('ENTRYPOINT')
  const at = (paths: string[]) =>
    paths.map((path) => (/^(?:src|latchkey)/.test(path) ? `/app/${path}` : path))

  const child = spawn('unshare', inside([...node, ...at(words('CMD'))]), {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const checks: [string, boolean | string][] = []
  try {
    const url = `http://127.0.0.1:${port}`
    let isReady = false
    for (let tries = 0; tries < 300 && !isReady && child.exitCode === null; tries++) {
      await sleep(200)
      isReady = await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    }
    checks.push(['becomes ready', isReady])
    const status = async (path: string, init?: RequestInit) =>
      (await fetch(url + path, init)).status
    const page = await (await fetch(url)).text()
    checks.push(['serves the user app', page.includes('<script')])
    const person = { email: 'ada@example.com', password: 'a long enough password' }
    const body = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(person),
    }
    const registered = await status('/api/auth/register', body)
    checks.push([
      'writes to /data',
      registered === 201 || registered === 400 || registered === 403 || registered === 422
        ? existsSync(join(data, 'latchkey.db'))
        : `${registered}`,
    ])
    const commands = /CMD (\[.*\])$/.exec(readInstruction('HEALTHCHECK'))?.[1] ?? '[]'
    const runCommand = (command: string[]) =>
      spawnSync('unshare', inside(command), { env, encoding: 'utf8' })
    checks.push([
      'passes its health check',
      runCommand(JSON.parse(commands) as string[]).status === 0,
    ])
    const doctor = runCommand([...node, ...at(['src/cli/main.ts']), 'doctor'])
    checks.push(['runs a command', /✔|✖/.test(doctor.stdout)])
    const write = "require('node:fs').writeFileSync('/app/x', '')"
    checks.push([
      'cannot write elsewhere',
      /EROFS|EACCES/.test(runCommand(['/usr/local/bin/node', '-e', write]).stderr),
    ])
    checks.push([
      'is not root',
      runCommand(['/usr/local/bin/node', '-p', 'process.getuid()']).stdout.trim() === uid,
    ])
    const gone = new Promise((resolve) => child.once('exit', resolve))
    const begun = performance.now()
    child.kill('SIGTERM')
    await Promise.race([gone, sleep(GONE_MS)])
    checks.push([
      'ends on SIGTERM',
      child.exitCode === 0
        ? true
        : `${child.exitCode ?? 'still running'} after ${Math.round(performance.now() - begun)} ms`,
    ])
  } finally {
    child.kill('SIGKILL')
  }
  const bytes = (folder: string) =>
    Number(execFileSync('du', ['-sb', folder], { encoding: 'utf8' }).split('\t')[0])
  checks.push([
    `${Math.round(bytes(root) / 1e6)} MB, at most ${BYTES_MAX / 1e6}`,
    bytes(root) <= BYTES_MAX,
  ])
  printTable(
    'The image',
    ['', ''],
    checks.map(([what, holds]) => [
      what,
      holds === true ? 'ok' : `FAILED ${holds === false ? '' : holds}`.trim(),
    ]),
  )
  if (checks.some(([, holds]) => holds !== true)) process.exitCode = 1
}
