import type { Config } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'

export type Context = {
  /** Read when it is first asked for: a command may mend what stops it. @throws ConfigError */
  config: Config
  /** Opens the service's database, as it is: nothing is made or migrated. Closed when the command ends. */
  platform(): Promise<Platform>
  print(line?: string): void
}

export type Command = {
  /** @returns the process's exit code. */
  run(args: string[], context: Context): Promise<number>
  /** Where one line does not say it. */
  USAGE?: string
}
