// The entry of the service. Plain JavaScript: with the compile cache on, Node then has no TypeScript left to strip at a later
// start, and never loads its stripper (20 MB and a tenth of a second).
import module from 'node:module'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(
    `Latchkey cannot start: Node ${process.versions.node} is too old: use 'npm start', which brings its own, or Node 24.12 or later`,
  )
  process.exit(1)
}

// glibc raises this threshold as larger pieces are freed, and then keeps for good what a flood of request bodies took. It is read
// before any code runs, so the process becomes itself once more, with it set.
if (
  process.platform === 'linux' &&
  process.env.MALLOC_MMAP_THRESHOLD_ === undefined &&
  process.execve
) {
  const words = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  try {
    process.execve(process.execPath, words, { ...process.env, MALLOC_MMAP_THRESHOLD_: '16384' })
  } catch {
    // Not permitted (--permission): it only saves memory.
  }
}

module.enableCompileCache()

// The bundle that `npm run build` made, while it is made of these sources; `npm run dev` always runs the sources.
const { BUNDLE, isCurrent } = await import('./src/app/built.ts')
const isBundled = !process.argv.includes('--no-user-app') && isCurrent(BUNDLE)
await import(isBundled ? './dist/main.js' : './src/main.ts')
