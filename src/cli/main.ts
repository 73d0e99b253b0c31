// The command line, `npm run cli -- COMMAND …`: one file per command, each with `run(args,
// context)`.

import { type Config, ConfigError, configFromProcess } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Command, Context } from './context.ts'

const COMMANDS: Record<string, { usage: string; says: string; load(): Promise<Command> }> = {
  audit: {
    usage: 'audit verify [NOTE]',
    says: 'verifies that no security event was changed or removed',
    load: () => import('./audit.ts'),
  },
  backup: {
    usage: 'backup PLACE',
    says: 'copies the database and files of a running service to a folder or s3://bucket/prefix',
    load: () => import('./backup.ts'),
  },
  billing: {
    usage: 'billing sync|report|deal|move-price',
    says: 'compares payments with the processor; reports a month; sets prices',
    load: () => import('./billing.ts'),
  },
  db: {
    usage: 'db copy|citus',
    says: "copies DATA_DIR's SQLite to the empty PostgreSQL of DATABASE_URL; prints SQL for Citus",
    load: () => import('./db.ts'),
  },
  doctor: {
    usage: 'doctor',
    says: 'lists the configured parts, the sandboxed parts and the faults',
    load: () => import('./doctor.ts'),
  },
  jobs: {
    usage: 'jobs [retry ID|all]',
    says: 'lists and retries failed jobs',
    load: () => import('./jobs.ts'),
  },
  'license-keys': {
    usage: 'license-keys [rotate|remove KID]',
    says: 'lists, rotates and removes the keys that sign offline licenses and updates',
    load: () => import('./license-keys.ts'),
  },
  migrate: {
    usage: 'migrate [--plan]',
    says: "applies this version's migrations; --plan only shows them",
    load: () => import('./migrate.ts'),
  },
  prices: {
    usage: 'prices [update FILE]',
    says: 'shows the price list of models, or replaces it',
    load: () => import('./prices.ts'),
  },
  rag: {
    usage: 'rag sync DIR|calibrate [FILE]',
    says: "uploads a folder's changes with LATCHKEY_API_KEY; measures EMBEDDER's cosines",
    load: () => import('./rag.ts'),
  },
  release: {
    usage: 'release publish SLUG VERSION DIR|ZIP',
    says: 'publishes a release of a product; --notes FILE adds its notes',
    load: () => import('./release.ts'),
  },
  restore: {
    usage: 'restore PLACE',
    says: 'restores a backup (the newest there) to an empty DATA_DIR or DATABASE_URL',
    load: () => import('./restore.ts'),
  },
  secret: {
    usage: 'secret',
    says: 'prints a new value for SECRET_KEY',
    load: () => import('./secret.ts'),
  },
  seed: {
    usage: 'seed [--number N] [--users N]',
    says: 'fills an empty database with a year of users, payments, usage and documents',
    load: () => import('./seed.ts'),
  },
  settings: {
    usage: 'settings',
    says: 'prints the settings that the setup page saved, with their secrets',
    load: () => import('./settings.ts'),
  },
  superuser: {
    usage: 'superuser add EMAIL',
    says: 'promotes an account, or creates one',
    load: () => import('./superuser.ts'),
  },
  switch: {
    usage: 'switch [off|on KIND NAME]',
    says: 'lists and sets kill switches of users, keys, models and vendors',
    load: () => import('./switch.ts'),
  },
  tour: {
    usage: 'tour [FILE] [--url URL]',
    says: 'runs the main path as a new customer',
    load: () => import('./tour.ts'),
  },
  verify: {
    usage: 'verify PLACE [--here]',
    says: 'compares a backup, or the data here, with its manifest',
    load: () => import('./verify.ts'),
  },
}

const HELP = new Set(['help', '--help', '-h'])

/** Commands that do not open sealed values, or that report a missing SECRET_KEY themselves. */
const WITHOUT_KEY = new Set(['backup', 'doctor', 'migrate', 'rag', 'tour', 'verify'])

// Only the owner can read files that this process creates.
process.umask(0o077)
process.exitCode = await main(process.argv.slice(2))

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    const isHelp = name === '' || HELP.has(name)
    if (!isHelp) console.error(`There is no command '${name}'.\n`)
    console.log('Usage: npm run cli -- COMMAND\n')
    for (const { usage, says } of Object.values(COMMANDS))
      console.log(`  ${usage.padEnd(36)} ${says}`)
    return isHelp ? 0 : 2
  }
  if (args.some((arg) => HELP.has(arg) && arg !== 'help')) {
    const { USAGE = `Usage: ${command.usage}\n\n  ${command.says}` } = await command.load()
    console.log(USAGE)
    return 0
  }

  let opened: Platform | null = null
  try {
    let config: Config | null = null
    const context: Context = {
      get config() {
        config ??= configFromProcess({ for: WITHOUT_KEY.has(name) ? 'look' : 'command' })
        return config
      },
      print: (line = '') => console.log(line),
      async platform() {
        const { openWithRooms } = await import('#app/open.ts')
        // The doctor prints each fault itself, in one line.
        const log = createLog(name === 'doctor' ? 'silent' : 'warn')
        opened ??= await openWithRooms(context.config, { log, isGuest: true })
        return opened
      },
    }
    return await (await command.load()).run(args, context)
  } catch (error) {
    console.error(
      error instanceof ConfigError
        ? `wrong setting: ${error.message}`
        : `${name}: ${(error as Error).message}`,
    )
    return 1
  } finally {
    await (opened as Platform | null)?.close()
  }
}
