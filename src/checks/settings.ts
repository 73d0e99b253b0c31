/** Checks settings alone, without calls: keys, sign-in providers, and combinations. */
import { type Config, exposures, SECRET_KEY_LENGTH_MIN } from '#config/config.ts'
import type { Line } from './line.ts'

export function checkSignIn({ oauth: { google, github } }: Config): Line[] {
  return Object.entries({ google, github }).map(([provider, client]) => {
    const name = `Sign-in ${provider}`
    if (client === null)
      return { mark: 'off', name, says: `${provider.toUpperCase()}_CLIENT_ID is not set` }
    if (client.sandboxed) return { mark: 'sandbox', name, says: 'the sandbox’s account chooser' }
    return { mark: 'ok', name, says: `client ${client.clientId}` }
  })
}

export function checkSecretKey({ production, secretKey, secretKeyOld }: Config): Line {
  const name = 'SECRET_KEY'
  if (secretKey === null) {
    return production
      ? {
          mark: 'wrong',
          name,
          says: 'not set: the service does not start without it (npm run -s cli -- secret)',
        }
      : {
          mark: 'off',
          name,
          says: 'not set: a copy of the database reveals all secrets; production requires it',
        }
  }
  if (secretKey.length < SECRET_KEY_LENGTH_MIN) {
    return {
      mark: 'wrong',
      name,
      says: `shorter than ${SECRET_KEY_LENGTH_MIN} characters: it can be guessed`,
    }
  }
  if (secretKeyOld !== null)
    return { mark: 'ok', name, says: 'set; remove SECRET_KEY_OLD after the next start' }
  return { mark: 'ok', name, says: 'set' }
}

/** Lists settings that are valid alone but wrong in combination. */
export function checkCombinations(config: Config): Line[] {
  const lines: Line[] = exposures(config).map(({ setting, says }) => ({
    mark: 'wrong',
    name: setting,
    says,
  }))
  if (config.production && config.urls.base.startsWith('http:')) {
    lines.push({
      mark: 'wrong',
      name: 'BASE_URL',
      says: `${config.urls.base} is not https: tokens would be sent unencrypted`,
    })
  }
  if (config.serve.size < 3 && config.databaseUrl === null) {
    lines.push({
      mark: 'off',
      name: 'SERVE',
      says: 'without DATABASE_URL the processes share one SQLite file and wait for each other’s writes',
    })
  }
  if (config.serve.size < 3 && config.redisUrl === null) {
    lines.push({
      mark: 'off',
      name: 'SERVE',
      says: 'without REDIS_URL each process counts its own limits',
    })
  }
  return lines
}
