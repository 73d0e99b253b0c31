import { Link } from '@tanstack/react-router'
import type { NavItem } from './navigation.ts'
import classes from './side-menu.module.css'

type MenuItemsProps = {
  items: readonly NavItem[]
  /** Runs for the open page too, whose link changes nothing else. */
  onSelect: () => void
}

export function MenuItems({ items, onSelect }: MenuItemsProps) {
  return items.map(({ to, label, icon: Glyph }) => (
    <Link
      key={to}
      to={to}
      className={classes.item}
      title={label}
      activeProps={{ 'aria-current': 'page' }}
      onClick={onSelect}
    >
      <Glyph size={18} stroke={1.6} aria-hidden />
      <span>{label}</span>
    </Link>
  ))
}
