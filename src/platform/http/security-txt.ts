import { DAY_MS } from '../clock.ts'
import type { Platform } from '../platform.ts'
import type { App } from './app.ts'

/** RFC 9116 requires an expiry date, after which the file must be reviewed. */
const GOOD_FOR_MS = 180 * DAY_MS

/** Serves security.txt, with the contact for vulnerability reports. @param url The server's URL */
export function securityTxtRoute(
  app: App,
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  url: string,
): void {
  app.get(
    '/.well-known/security.txt',
    { schema: { hide: true }, config: { access: 'anyone' } },
    (_request, reply) => {
      const day = Math.floor((clock.ms() + GOOD_FOR_MS) / DAY_MS) * DAY_MS
      return reply
        .type('text/plain; charset=utf-8')
        .send(
          [
            `Contact: ${config.mail.securityContact}`,
            `Expires: ${new Date(day).toISOString()}`,
            'Preferred-Languages: en',
            `Canonical: ${url}/.well-known/security.txt`,
            '',
          ].join('\n'),
        )
    },
  )
}
