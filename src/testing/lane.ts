/**
 * One process of `npm test` that runs many test files: `node lane.ts FILE …`. Loading the tested
 * modules takes most of a small file's time. The files are required, not imported, so that all are
 * loaded before the first test runs. A file with top-level await, whose tests would register too
 * late, is rejected by name.
 */
import { createHook } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

followNoPromises()
const require = createRequire(import.meta.url)
const { test } = require('node:test') as typeof import('node:test')

for (const file of process.argv.slice(2)) {
  try {
    require(resolve(file))
  } catch (error) {
    test(file, () => {
      throw error
    })
  }
}

/**
 * Node's runner follows every promise, to know whose test an error belongs to that nobody catches:
 * a tenth of a run's time, and more where a database runs in the process. Here it follows the rest
 * alone. Such an error still fails the run and is reported where it happens, after the name of the
 * test before. Where Node has no such switch, all stays as it is.
 */
function followNoPromises(): void {
  const hook = createHook({})
  const untracked = Object.getOwnPropertySymbols(hook).find(
    (symbol) => symbol.description === 'kNoPromiseHook',
  )
  if (untracked === undefined) return
  const prototype = Object.getPrototypeOf(hook) as ReturnType<typeof createHook>
  const { enable } = prototype
  prototype.enable = function (this: typeof hook) {
    Object.assign(this, { [untracked]: true })
    return enable.call(this)
  }
  const tell = (error: unknown) => console.error('An error that no test has caught:', error)
  process.on('uncaughtException', tell)
  process.on('unhandledRejection', tell)
}
