// The equivalent of `t` for all tests of a suite that share a service. The trap: outside a suite
// its hook would run for every file that shares the process.
import { after, type TestContext } from 'node:test'

/**
 * Asked for in the body of a suite; what is given to its `after` ends behind the suite's last test,
 * the latest first.
 */
export function suiteContext(): Pick<TestContext, 'after'> {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends) await end()
  })
  return { after: (end) => void ends.unshift(end as () => unknown) }
}
