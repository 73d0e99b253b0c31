import type { Plugin } from 'vite'

const CLASSES = /@mantine[\\/]core[\\/]esm[\\/].*?([A-Za-z]+)\.module\.mjs$/
/** Components inside others, whose styles must win in any order of loading. */
const INNER =
  /@mantine[\\/]core[\\/]styles[\\/](?:UnstyledButton|Paper|Input|InlineInput|Text|Title|ActionIcon|CloseButton|ScrollArea|ModalBase|Overlay|Popover|Group|Loader|Pill)\.layer\.css/

/**
 * Gives each Mantine component the sheet with its styles, so that a page loads the sheets of the
 * components it uses. index.html orders the layers.
 */
export function mantineStyles(): Plugin {
  let isBuild = true
  return {
    name: 'latchkey-mantine-styles',
    enforce: 'pre',
    configResolved({ command }) {
      isBuild = command === 'build'
    },
    transform(code, id) {
      // `vite serve` bundles packages before this sees them.
      if (!isBuild) {
        return id.endsWith('/main.tsx')
          ? `import '@mantine/core/styles.layer.css'\n${code}`
          : undefined
      }
      if (INNER.test(id)) return code.replaceAll('@layer mantine', '@layer mantine-inner')
      const component = CLASSES.exec(id)?.[1]
      return component && `import '@mantine/core/styles/${component}.layer.css'\n${code}`
    },
  }
}
