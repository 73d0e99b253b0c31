import type { Config } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'

export type Context = {
  /** Read at first use, because a command may repair a setting. @throws ConfigError */
  config: Config
  /**
   * Opens the service's database without creating or migrating it. Closed when the command ends.
   */
  platform(): Promise<Platform>
  print(line?: string): void
}

export type Command = {
  /** @returns the process's exit code. */
  run(args: string[], context: Context): Promise<number>
  /** Help of commands that need more than one line. */
  USAGE?: string
}
