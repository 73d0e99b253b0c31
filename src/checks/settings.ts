/** Checks settings alone, without calls: keys, sign-in providers, and combinations. */
import { type Config, exposures, SECRET_KEY_LENGTH_MIN } from '#config/config.ts'
import { createLines, type Line } from './line.ts'

export function checkSignIn({ oauth: { google, github } }: Config): Line[] {
  return Object.entries({ google, github }).map(([provider, client]) => {
    const { ok, off, sandbox } = createLines(`Sign-in ${provider}`)
    if (client === null) return off(`${provider.toUpperCase()}_CLIENT_ID is not set`)
    if (client.sandboxed) return sandbox('the sandbox’s account chooser')
    return ok(`client ${client.clientId}`)
  })
}

export function checkSecretKey({ production, secretKey, secretKeyOld }: Config): Line {
  const { ok, off, wrong } = createLines('SECRET_KEY')
  if (secretKey === null) {
    return production
      ? wrong('not set: the service does not start without it (npm run -s cli -- secret)')
      : off('not set: a copy of the database reveals all secrets; production requires it')
  }
  if (secretKey.length < SECRET_KEY_LENGTH_MIN) {
    return wrong(`shorter than ${SECRET_KEY_LENGTH_MIN} characters: it can be guessed`)
  }
  if (secretKeyOld !== null) return ok('set; remove SECRET_KEY_OLD after the next start')
  return ok('set')
}

/** Lists settings that are valid alone but wrong in combination. */
export function checkCombinations(config: Config): Line[] {
  const lines: Line[] = exposures(config).map(({ setting, says }) =>
    createLines(setting).wrong(says),
  )
  const serve = createLines('SERVE')
  const isSplit = config.serve.size < 3
  if (config.production && config.urls.base.startsWith('http:'))
    lines.push(
      createLines('BASE_URL').wrong(
        `${config.urls.base} is not https: tokens would be sent unencrypted`,
      ),
    )
  if (isSplit && config.databaseUrl === null)
    lines.push(
      serve.off(
        'without DATABASE_URL the processes share one SQLite file and wait for each other’s writes',
      ),
    )
  if (isSplit && config.redisUrl === null)
    lines.push(serve.off('without REDIS_URL each process counts its own limits'))
  return lines
}
