import { call } from '../tour/client.ts'

/** The desktop and the phone of every user of the seeded year. */
export const BROWSERS = {
  laptop: {
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  },
  phone: {
    'user-agent':
      'Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1',
  },
} as const

/** Sends a form of the processor's hosted page, whose link has the configured address. */
export async function sendForm(
  api: string,
  pageUrl: string,
  fields: Record<string, string>,
): Promise<void> {
  const form = new URLSearchParams(fields)
  await call('POST', `${api}${new URL(pageUrl).pathname}`, { form }, [302, 303])
}
