// Starts better-auth 1.7.6 in a separate process on a temporary folder.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../lib/service.ts'
import { installPeers, PEERS } from './install.ts'

export type Peer = {
  url: string
  port: number
  /** The cookie of a signed-in user. */
  cookie: string
  email: string
  password: string
  stop(): void
}

export async function startBetterAuth(): Promise<Peer> {
  installPeers('better-auth')
  const dataDir = mkdtempSync(join(tmpdir(), 'better-auth-bench-'))
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [join(PEERS, 'better-auth-server.mjs'), String(port), join(dataDir, 'auth.db')],
    {
      cwd: PEERS,
      env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  await new Promise((resolve, reject) =>
    child.stdout
      .once('data', resolve)
      .once('end', () => reject(new Error('better-auth did not start'))),
  )
  const url = `http://127.0.0.1:${port}`
  const person = { email: 'ada@example.com', password: 'a long enough password' }
  const reply = await fetch(`${url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ ...person, name: 'Ada' }),
  })
  if (!reply.ok) throw new Error(`better-auth: ${reply.status} ${await reply.text()}`)
  const cookie = reply.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return {
    url,
    port,
    cookie,
    ...person,
    stop() {
      child.kill()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
