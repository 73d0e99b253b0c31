// The command line: `npm run cli -- COMMAND …`. One file a command, each with `run(args, context)`.

import { type Config, ConfigError, configFromProcess } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'
import { createLog } from '#platform/telemetry/log.ts'
import type { Command, Context } from './context.ts'

const COMMANDS: Record<string, { usage: string; says: string; load(): Promise<Command> }> = {
  audit: {
    usage: 'audit verify [NOTE]',
    says: 'whether the log of security events is unbroken',
    load: () => import('./audit.ts'),
  },
  backup: {
    usage: 'backup PLACE [--without-products]',
    says: 'copies database and files, while the service runs, to a folder or s3://bucket/prefix',
    load: () => import('./backup.ts'),
  },
  billing: {
    usage: 'billing sync|report|deal|move-price',
    says: 'holds all money against the processor; what a month brought; prices of one customer, and of all',
    load: () => import('./billing.ts'),
  },
  db: {
    usage: 'db copy|citus',
    says: "copies DATA_DIR's SQLite into the empty PostgreSQL of DATABASE_URL; how to lay tables out on Citus",
    load: () => import('./db.ts'),
  },
  doctor: {
    usage: 'doctor',
    says: 'what is configured, what the sandbox plays, and what is wrong',
    load: () => import('./doctor.ts'),
  },
  jobs: {
    usage: 'jobs [retry ID|all]',
    says: 'jobs that gave up, and another try for them',
    load: () => import('./jobs.ts'),
  },
  migrate: {
    usage: 'migrate [--plan]',
    says: "applies this version's migrations; --plan only shows them",
    load: () => import('./migrate.ts'),
  },
  prices: {
    usage: 'prices [update FILE]',
    says: "which list of models' prices counts, and a newer one instead",
    load: () => import('./prices.ts'),
  },
  rag: {
    usage: 'rag sync DIR|calibrate [FILE]',
    says: "sends what has changed in a folder, with LATCHKEY_API_KEY; what EMBEDDER's cosines mean",
    load: () => import('./rag.ts'),
  },
  restore: {
    usage: 'restore PLACE [--without-products]',
    says: 'puts a backup (the newest there) into an empty DATA_DIR or DATABASE_URL',
    load: () => import('./restore.ts'),
  },
  secret: {
    usage: 'secret',
    says: 'a new value for SECRET_KEY',
    load: () => import('./secret.ts'),
  },
  seed: {
    usage: 'seed',
    says: 'fills an empty database with a year of users, payments, usage and documents',
    load: () => import('./seed.ts'),
  },
  superuser: {
    usage: 'superuser add EMAIL',
    says: 'promotes an account, or makes one',
    load: () => import('./superuser.ts'),
  },
  switch: {
    usage: 'switch [off|on KIND NAME]',
    says: 'kill switches of users, keys, models and vendors',
    load: () => import('./switch.ts'),
  },
  tour: {
    usage: 'tour [FILE] [--url URL]',
    says: 'walks the main path as a client would',
    load: () => import('./tour.ts'),
  },
  verify: {
    usage: 'verify PLACE [--here]',
    says: 'whether a backup is whole; whether a restore is the same',
    load: () => import('./verify.ts'),
  },
}

const HELP = new Set(['help', '--help', '-h'])

/** These do not open what SECRET_KEY seals, or say themselves that it is missing. */
const WITHOUT_KEY = new Set(['backup', 'doctor', 'migrate', 'rag', 'tour', 'verify'])

// Every file that this process writes is for its owner alone.
process.umask(0o077)
process.exitCode = await main(process.argv.slice(2))

async function main([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    const isAsked = name === '' || HELP.has(name)
    if (!isAsked) console.error(`There is no command '${name}'.\n`)
    console.log('Usage: npm run cli -- COMMAND\n')
    for (const { usage, says } of Object.values(COMMANDS))
      console.log(`  ${usage.padEnd(36)} ${says}`)
    return isAsked ? 0 : 2
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
        // The doctor reports each fault itself, in a line.
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
