/** Checks the folders of the service: its data, and the uploaded files. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, findOriginalsFault } from '#config/config.ts'
import { findMark, requireMark } from '#rag/originals/folder-mark.ts'
import { createLines, type Line, type OpenPlatform } from './line.ts'

/** Creates nothing, so that checking a mistyped DATA_DIR leaves no folder. */
export function checkDataFolder({ dataDir }: Config): Line {
  const { ok, off, wrong } = createLines('Data folder')
  let folder = dataDir
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
    if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
  } catch (error) {
    return wrong(`${dataDir} cannot be written: ${(error as Error).message}`)
  }
  return folder === dataDir
    ? ok(dataDir)
    : off(`${dataDir} does not exist yet: the first start creates it`)
}

/** Checks that this node finds the same uploaded files as every other node. */
export async function checkOriginals(config: Config, platform: OpenPlatform): Promise<Line> {
  const { ok, off, wrong, failed } = createLines('Originals')
  const fault = findOriginalsFault(config)
  if (fault !== null) return wrong(fault)
  if (config.originals === null) return off('ORIGINALS_DIR=off: uploaded files are not stored')
  if (config.originals.startsWith('s3://')) return ok(config.originals)
  try {
    const mark = await findMark((await platform()).db)
    if (mark !== null) await requireMark(config.originals, mark)
    return ok(config.originals)
  } catch (error) {
    return failed(error, (error as Error).message)
  }
}
