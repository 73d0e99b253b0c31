// `switch` lists the operator's kill switches and turns them on or off. Running services apply a
// change within two seconds.
import { parseArgs } from 'node:util'
import { findUserByEmail } from '#identity/users.ts'
import { listSwitches, switchOff, switchOn } from '#switches/set.ts'
import type { SwitchKind } from '#switches/tables.ts'
import type { Context } from './context.ts'

export const USAGE = `Usage: switch                                 lists the switches and their reasons
       switch off KIND NAME [--reason TEXT]   KIND: user (an email address or id), key (its id), vendor,
                                              or model (a name, an alias, a pattern: groq/*)
       switch on KIND NAME`

const KINDS: readonly string[] = ['user', 'key', 'model', 'vendor'] satisfies SwitchKind[]
const isKind = (word: string | undefined): word is SwitchKind =>
  word !== undefined && KINDS.includes(word)

export async function run(args: string[], { platform, print }: Context): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { reason: { type: 'string' } },
  })
  const [verb, kind, name, ...rest] = positionals
  const { reason = 'by the operator' } = values
  if (verb === undefined) {
    const switches = await listSwitches((await platform()).db)
    if (switches.length === 0) print('Nothing is switched off')
    for (const { kind, subject, set_at, reason } of switches)
      print(`${kind} ${subject}  since ${set_at}: ${reason}`)
    return 0
  }
  const isWord = name !== undefined && /^[!-~]{1,200}$/.test(name) && rest.length === 0
  const isReason = /^[^\p{C}]{1,200}$/u.test(reason)
  if ((verb !== 'off' && verb !== 'on') || !isKind(kind) || !isWord || !isReason) {
    print(USAGE)
    return 2
  }
  const opened = await platform()
  const user = kind === 'user' && name.includes('@') ? await findUserByEmail(opened.db, name) : null
  const subject = user?.id ?? name
  if (verb === 'off') await switchOff(opened, null, { kind, subject, reason })
  else await switchOn(opened, null, { kind, subject })
  print(`${kind} ${name} is ${verb}`)
  return 0
}
