import { processEnv } from '#config/config.ts'
import { findOverride, readSettingsFile, settingsPath } from '#config/settings-file.ts'
import type { Context } from './context.ts'

/** Prints the settings that the setup page saved as lines for `.env`, secrets included. */
export async function run(_args: string[], { config, print }: Context): Promise<number> {
  const { saved } = readSettingsFile(config.dataDir, config)
  const env = processEnv()
  const names = Object.keys(saved).sort()
  if (names.length === 0) print(`# ${settingsPath(config.dataDir)} has no settings`)
  for (const name of names) {
    const override = findOverride(env, name)
    print(
      `${override === null ? '' : `# ${override} of the environment takes precedence: `}${name}=${saved[name]}`,
    )
  }
  return 0
}
