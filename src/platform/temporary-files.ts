/**
 * Temporary files for input that is too long for memory. Only the operating system user of the
 * service can open them; threads read them, and the consumer removes them. Each process has a
 * separate folder with a lock that the system releases when the process ends, so that the next
 * start can distinguish leftovers from files in use.
 */
import { type Hash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type Content, inFile, inMemory } from './content.ts'
import { FolderInUse, lockFolder } from './data-lock.ts'
import { makeFolder } from './folder.ts'
import { Problem } from './problem.ts'
import { platformProblem } from './problems.ts'
import type { Log } from './telemetry/log.ts'

export type TemporaryFiles = ReturnType<typeof createTemporaryFiles>

/** @param root The parent of the folders of all processes, created when first needed. */
export function createTemporaryFiles(root: string, { memoryBytes }: { memoryBytes: number }) {
  let own: { folder: string; unlock: () => void } | null = null
  let isClosed = false

  return {
    take,

    /** Creates an empty file for a thread to write to. */
    create(): { path: string; remove(): void } {
      const path = join(folder(), randomUUID())
      try {
        writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
      } catch (cause) {
        throw notTaken(cause)
      }
      return { path, remove: () => rmSync(path, { force: true }) }
    },

    /**
     * Removes the files of killed processes. Logs files that cannot be removed. @returns the number
     * of removed files
     */
    sweep(log: Pick<Log, 'warn'>): number {
      return sweepFolders(root, log)
    },

    close(): void {
      isClosed = true
      if (own === null) return
      own.unlock()
      rmSync(own.folder, { recursive: true, force: true })
      own = null
    },
  }

  /**
   * Reads a stream to its end. On failure the stream stays open, because the sender still gets a
   * reply.
   * @throws Problem 413 beyond `bytesMax`, or 503 when the disk is full. Otherwise the stream's own
   * error, as a 400 when it was cut off.
   */
  async function take(
    stream: Readable,
    { bytesMax = Infinity, hash }: { bytesMax?: number; hash?: Hash } = {},
  ): Promise<Content> {
    let pieces: Uint8Array[] = []
    let sizeBytes = 0
    let spilling: Promise<void> | undefined
    const spilled: { to: { path: string; handle: FileHandle } | null } = { to: null }

    async function spill(): Promise<void> {
      try {
        spilled.to ??= await begin(join(folder(), randomUUID()))
        const batch = pieces
        pieces = []
        for (const piece of batch) await spilled.to.handle.writeFile(piece)
      } catch (cause) {
        throw notTaken(cause)
      }
    }

    try {
      await eachPiece(stream, (piece) => {
        sizeBytes += piece.length
        if (sizeBytes > bytesMax) throw platformProblem('body_too_large')
        hash?.update(piece)
        pieces.push(piece)
        spilling = sizeBytes > memoryBytes ? spill() : undefined
        return spilling
      })
      // A stream with one chunk may end before its file is written.
      await spilling
    } catch (error) {
      // The stream may fail while its file is being created.
      await spilling?.catch(() => {})
      await spilled.to?.handle.close()
      if (spilled.to) rmSync(spilled.to.path, { force: true })
      throw error
    }
    await spilled.to?.handle.close()
    return spilled.to ? inFile(spilled.to.path, sizeBytes) : inMemory(Buffer.concat(pieces))
  }

  function folder(): string {
    if (isClosed) throw platformProblem('upload_not_taken')
    try {
      // The operator may have emptied the folder.
      if (own !== null && !existsSync(own.folder)) {
        own.unlock()
        own = null
      }
      own ??= makeOwnFolder(root)
    } catch (cause) {
      throw notTaken(cause)
    }
    return own.folder
  }
}

async function begin(path: string): Promise<{ path: string; handle: FileHandle }> {
  return { path, handle: await open(path, 'wx', 0o600) }
}

function notTaken(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  return platformProblem('upload_not_taken', { cause, headers: { 'Retry-After': '30' } })
}

/** Calls `deal` for each chunk and waits for it before reading the next one. */
function eachPiece(
  stream: Readable,
  deal: (piece: Uint8Array) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      done()
    }
    const fail = (error: unknown) => {
      stream.pause()
      settle(() => reject(error))
    }
    const onData = (piece: Uint8Array) => {
      try {
        const dealing = deal(piece)
        if (dealing === undefined) return
        stream.pause()
        dealing.then(() => stream.resume(), fail)
      } catch (error) {
        fail(error)
      }
    }
    const onEnd = () => settle(resolve)
    const onError = (error: Error) => fail(error instanceof Problem ? error : toUploadError(error))
    const onClose = () => fail(toUploadError(new Error('The body was broken off')))
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
    if (stream.destroyed) onClose()
    else stream.resume()
  })
}

/** Marks an aborted upload as a client error (400). */
function toUploadError(error: Error): Error {
  return 'statusCode' in error ? error : Object.assign(error, { statusCode: 400 })
}

const LOCK = 'process'

function makeOwnFolder(root: string): { folder: string; unlock: () => void } {
  for (;;) {
    const folder = join(root, randomUUID())
    makeFolder(folder)
    try {
      return { folder, unlock: lockFolder(folder, [LOCK]) }
    } catch (error) {
      // Another process's sweep may have removed the folder before it was locked.
      if (!(error instanceof FolderInUse) && existsSync(folder)) throw error
    }
  }
}

function sweepFolders(root: string, log: Pick<Log, 'warn'>): number {
  let swept = 0
  for (const folder of listFolders(root, log)) {
    try {
      // The lock is released after the removal; otherwise another process could lock the folder in
      // between.
      const unlock = lockFolder(folder, [LOCK])
      try {
        const files = readdirSync(folder).filter((file) => !file.startsWith(LOCK)).length
        rmSync(folder, { recursive: true, force: true })
        swept += files
      } finally {
        unlock()
      }
    } catch (error) {
      if (!(error instanceof FolderInUse))
        log.warn({ err: error, folder }, 'what a process left could not be removed')
    }
  }
  return swept
}

function listFolders(root: string, log: Pick<Log, 'warn'>): string[] {
  if (!existsSync(root)) return []
  try {
    return readdirSync(root).map((name) => join(root, name))
  } catch (error) {
    log.warn({ err: error, folder: root }, 'the folder for temporary files cannot be read')
    return []
  }
}
