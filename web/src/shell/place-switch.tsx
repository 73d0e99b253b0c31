import { Link } from '@tanstack/react-router'
import { t } from '../language/text.ts'
import type { Place, PlaceName } from './navigation.ts'
import classes from './place-switch.module.css'

type PlaceSwitchProps = {
  places: readonly Place[]
  current: PlaceName
  onSwitch: () => void
}

/** Switches between the places, unless there is only one. */
export function PlaceSwitch({ places, current, onSwitch }: PlaceSwitchProps) {
  if (places.length < 2) return null
  return (
    <ul className={classes.places} aria-label={t('Places')}>
      {places.map(({ name, to, label, icon: Glyph }) => (
        <li key={name}>
          <Link
            to={to}
            title={label}
            onClick={() => name !== current && onSwitch()}
            // The router marks a link whose page is open. A place is also current on its other pages.
            activeProps={{ 'aria-current': undefined }}
            aria-current={name === current ? 'true' : undefined}
          >
            <Glyph size={16} stroke={1.7} aria-hidden />
            <span>{label}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
