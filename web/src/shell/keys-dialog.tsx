import { useState } from 'react'
import { Dialog } from '../conversations/parts/dialog.tsx'
import { t } from '../language/text.ts'
import classes from './keys-dialog.module.css'
import type { Place } from './navigation.ts'
import { SINGLE_KEYS_OFF } from './shortcuts.ts'

const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : t('Ctrl')

type KeysDialogProps = { places: readonly Place[]; onClose: () => void }

/**
 * The keyboard shortcuts, and a switch for those of a single key: speech input types letters by
 * accident (WCAG 2.1.4).
 */
export function KeysDialog({ places, onClose }: KeysDialogProps) {
  const [isOn, setIsOn] = useState(() => !(SINGLE_KEYS_OFF in localStorage))
  return (
    <Dialog title={t('Keyboard shortcuts')} onClose={onClose}>
      <Keys
        title={t('Everywhere')}
        keys={[
          [[MOD, 'K'], t('Search pages, conversations and more')],
          [[MOD, 'B'], t('Collapse or expand the menu')],
          [['?'], t('Show this list')],
          ...places.map(({ label }): Shortcut => [['G', label.charAt(0)], t('Go to {0}', label)]),
        ]}
      />
      <Keys
        title={t('In a conversation')}
        keys={[
          [[t('Enter')], t('Send')],
          [[t('Shift'), t('Enter')], t('Start a new line')],
          [['@'], t('Choose a file or a collection')],
          [['↑'], t('Edit your last question')],
          [[t('Esc')], t('Stop the answer')],
        ]}
      />
      <Keys title={t('In the playground')} keys={[[[MOD, t('Enter')], t('Send')]]} />
      <label className={classes.switch}>
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget: { checked } }) => {
            if (checked) localStorage.removeItem(SINGLE_KEYS_OFF)
            else localStorage.setItem(SINGLE_KEYS_OFF, '1')
            setIsOn(checked)
          }}
        />
        {t('Use shortcuts without {0}, such as ?', MOD)}
      </label>
    </Dialog>
  )
}

type Shortcut = [keys: string[], what: string]

function Keys({ title, keys }: { title: string; keys: Shortcut[] }) {
  return (
    <section className={classes.keys}>
      <h3>{title}</h3>
      <dl>
        {keys.map(([combination, what]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {combination.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
