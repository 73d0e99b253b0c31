// Runs a client in a separate process group, which ends with the client or at its time limit,
// including child processes.
import { spawn } from 'node:child_process'

export type Ended = { out: string; error: string; status: number | null; late: boolean }

type Given = { cwd: string; env: Record<string, string>; msMax: number }

/** Output beyond this length is discarded. */
const KEPT_CHARACTERS = 2_000_000

export async function ran(
  command: string,
  args: string[],
  { cwd, env, msMax }: Given,
): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, error, late] = ['', '', false]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (out.length < KEPT_CHARACTERS) out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (error.length < KEPT_CHARACTERS) error += text
  })
  const timer = setTimeout(() => {
    late = true
    endGroup(child.pid)
  }, msMax)
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', (reason) => {
      error += reason.message
      resolve(null)
    })
    // Not 'close': a grandchild may hold the pipes open.
    child.once('exit', (code) => setTimeout(() => resolve(code), 50))
  })
  clearTimeout(timer)
  endGroup(child.pid)
  return { out, error, status, late }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has ended already.
  }
}
