import manifest from '../../package.json' with { type: 'json' }

/** Of this service, as in package.json. */
export const version: string = manifest.version
