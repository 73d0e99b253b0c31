// This process's copy of the switches. Every call checks it in memory. It is read again every
// second and after each message of the bus. While the database is unreachable, the last values
// remain in effect.
import './tables.ts'
import type { RoutePolicy } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import { switchedOffProblem } from './problems.ts'
import type { SwitchKind } from './tables.ts'

export const SWITCHES_CHANGED = 'switches.changed'

const READ_MS = 1_000

export type LiveSwitches = ReturnType<typeof createLiveSwitches>

export function createLiveSwitches({ db, bus, log }: Pick<Platform, 'db' | 'bus' | 'log'>) {
  let off: Record<SwitchKind, ReadonlyMap<string, string>> = NOTHING
  let models: readonly string[] = []
  let [asked, applied] = [0, 0]
  let timer: NodeJS.Timeout | null = null

  const reload = async () => {
    const turn = ++asked
    const rows = await db.selectFrom('switches').select(['kind', 'subject', 'reason']).execute()
    // A slow read may end after a newer one.
    if (turn < applied) return
    applied = turn
    const of = (kind: SwitchKind) =>
      new Map(
        rows.filter((row) => row.kind === kind).map(({ subject, reason }) => [subject, reason]),
      )
    off =
      rows.length === 0
        ? NOTHING
        : { user: of('user'), key: of('key'), model: of('model'), vendor: of('vendor') }
    const names = [...off.model.keys()]
    // Returns the same list while nothing changes, so that callers can cache what they compile.
    if (names.length !== models.length || names.some((name, index) => name !== models[index]))
      models = names
  }
  const say = seldom((details, message) => log.warn(details, message))
  const safely = () =>
    reload().catch((err) => say({ err }, 'the switches were not read; those that were known hold'))
  bus.on(SWITCHES_CHANGED, () => void safely())
  bus.onGap(() => void safely())
  let isReading = false
  /** Starts no second read while the database does not answer. */
  const again = () => {
    if (isReading) return
    isReading = true
    void safely().finally(() => {
      isReading = false
    })
  }

  return {
    /** Applies a change of this process and resolves when it is in effect. */
    reload,
    /** Starts reading. Called by every part of the service; only the first call has an effect. */
    async start() {
      if (timer !== null) return
      timer = setInterval(again, READ_MS).unref()
      await reload()
    },
    stop() {
      if (timer !== null) clearInterval(timer)
    },
    /** @throws Problem 403 when the operator has switched off the key or the calls of its user */
    requireCaller(
      { userId, keyId }: { userId: string; keyId: string | null },
      { needs }: RoutePolicy,
    ): void {
      if (off === NOTHING) return
      const ofKey = keyId === null ? undefined : off.key.get(keyId)
      if (ofKey !== undefined) throw switchedOffProblem('key_switched_off', { reason: ofKey })
      // Signed-in users can still reach the account, its keys and its bills.
      const isCall = keyId !== null || (needs !== undefined && needs !== 'api_keys')
      const ofUser = isCall ? off.user.get(userId) : undefined
      if (ofUser !== undefined) throw switchedOffProblem('user_switched_off', { reason: ofUser })
    },
    reasonFor: (kind: 'model' | 'vendor', subject: string): string | undefined =>
      off[kind].get(subject),
    /** Returns the switched-off models as names and patterns, in the syntax of a plan's list. */
    models: (): readonly string[] => models,
  }
}

const NONE: ReadonlyMap<string, string> = new Map()
const NOTHING = { user: NONE, key: NONE, model: NONE, vendor: NONE }
