import { isLoopbackAddress, isLoopbackHost } from '../platform/http/loopback.ts'

type Settings = {
  production: boolean
  sandbox: { on: boolean; open: boolean }
  http: { host: string; trustProxy: false | number | readonly string[] }
  urls: Record<string, string>
}

/**
 * Returns combinations of valid settings that give strangers access. `doctor` and each start report
 * them.
 */
export function exposures({
  production,
  sandbox,
  http,
  urls,
}: Settings): { setting: string; says: string }[] {
  const found: { setting: string; says: string }[] = []
  if (sandbox.open) {
    found.push({
      setting: 'SANDBOX',
      says: 'SANDBOX=on: whoever reaches this port reads all mail, pays with play money and signs in as whom they like',
    })
  } else if (sandbox.on && (!isLoopbackBinding(http.host) || http.trustProxy !== false)) {
    found.push({
      setting: 'SANDBOX',
      says: `the sandbox is on, and ${http.trustProxy === false ? `HOST=${http.host} lets others reach this port` : 'TRUST_PROXY says that a proxy stands in front'}: set NODE_ENV=production or SANDBOX=off`,
    })
  }
  if (!production && !isLocal(urls)) {
    found.push({
      setting: 'NODE_ENV',
      says: `NODE_ENV is not production, but ${Object.values(urls).find((url) => !isLocal({ url }))} is no address of this machine: set NODE_ENV=production`,
    })
  }
  return found
}

export const isLocal = (urls: Record<string, string>) =>
  Object.values(urls).every((url) => isLoopbackHost(new URL(url).host))
const isLoopbackBinding = (host: string) => isLoopbackHost(host) || isLoopbackAddress(host)
