import type { Plugin } from 'vite'

const CLASSES = /@mantine[\\/]core[\\/]esm[\\/]components[\\/].*?([A-Za-z]+)\.module\.mjs$/

/**
 * Gives each Mantine component the sheet with its styles, so that a page loads the sheets of the
 * components it uses. They are in the layer `mantine`, so our rules win in any order of loading.
 */
export function mantineStyles(): Plugin {
  return {
    name: 'latchkey-mantine-styles',
    apply: 'build',
    transform(code, id) {
      const component = CLASSES.exec(id)?.[1]
      return component && `import '@mantine/core/styles/${component}.layer.css'\n${code}`
    },
  }
}
