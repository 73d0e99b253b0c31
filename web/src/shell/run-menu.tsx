import { MenuItems } from './menu-items.tsx'
import { RUN } from './run-pages.ts'

export function RunMenu({ onSelect }: { onSelect: () => void }) {
  return <MenuItems items={RUN} onSelect={onSelect} />
}
