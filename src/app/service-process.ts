/**
 * Runs the service in this process, and starts it again when saved settings change. One change of
 * state runs at a time, so a signal during a restart waits for it.
 */
import type { Config } from '#config/config.ts'
import type { Host } from '#setup/saved-settings.ts'
import type { Service } from './service.ts'

type Running = { config: Config; service: Service }
type RestartHost = Pick<Host, 'restart' | 'restartFailure'>

type ProcessOptions = {
  /** Starts a service, which answers when this resolves. @throws Error for the operator */
  start(host: RestartHost): Promise<Running>
  /** Returns an undo that restores the settings of the running service. */
  rememberSettings(): () => void
  /** Called when no service runs any more, neither with the new nor with the former settings. */
  onLost(error: unknown): void
}

export class ServiceProcess {
  readonly #options: ProcessOptions
  #running: Running | null = null
  #restoreSettings = () => {}
  #changes: Promise<void> = Promise.resolve()
  #isStopping = false
  #isRestartQueued = false

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  /** @throws Error for the operator */
  async start(): Promise<Running> {
    return this.#start(null)
  }

  /** Ends the service. A restart that has begun ends first. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#running?.service.platform.log.info('draining')
    await this.#changes
    if (this.#running === null) return
    const { service, config } = this.#running
    await service.close(config.drain.seconds * 1_000, config.drain.delaySeconds * 1_000)
    this.#running = null
  }

  #restart(): void {
    if (this.#isRestartQueued) return
    this.#isRestartQueued = true
    this.#changes = this.#changes.then(() => this.#replace()).catch(this.#options.onLost)
  }

  async #replace(): Promise<void> {
    this.#isRestartQueued = false
    if (this.#running === null || this.#isStopping) return
    const { service, config } = this.#running
    service.platform.log.info('restarting with the saved settings')
    // No other node takes requests meanwhile, so there is no delay for load balancers.
    await service.close(config.drain.seconds * 1_000)
    this.#running = null
    try {
      await this.#start(null)
    } catch (error) {
      this.#restoreSettings()
      const { message } = error as Error
      const { service } = await this.#start(message)
      service.platform.log.error({ err: error }, 'the saved settings were undone')
    }
  }

  async #start(restartFailure: string | null): Promise<Running> {
    const restore = this.#options.rememberSettings()
    const running = await this.#options.start({ restart: () => this.#restart(), restartFailure })
    this.#restoreSettings = restore
    this.#running = running
    return running
  }
}
