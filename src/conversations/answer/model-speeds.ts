/** Recent speeds of models in this process: moving averages of tokens per second while streaming. */
import type { Route } from '#models/catalogue.ts'

/** Weight of a new measurement. */
const NEW_SHARE = 0.3
/** Shorter answers measure the network, not the model. */
const TOKENS_MIN = 20
const MODELS_MAX = 1_000

export class ModelSpeeds {
  readonly #perSecond = new Map<string, number>()

  record(route: Route, tokens: number, ms: number): void {
    if (tokens < TOKENS_MIN || ms <= 0) return
    const name = toName(route)
    const now = (tokens * 1_000) / ms
    const before = this.#perSecond.get(name)
    if (before === undefined && this.#perSecond.size >= MODELS_MAX) this.#perSecond.clear()
    this.#perSecond.set(name, before === undefined ? now : before + (now - before) * NEW_SHARE)
  }

  /** Returns tokens per second; null before the first measurement. */
  find(route: Route): number | null {
    const speed = this.#perSecond.get(toName(route))
    return speed === undefined ? null : Math.round(speed)
  }
}

const toName = ({ vendor, model }: Route) => `${vendor}/${model}`
