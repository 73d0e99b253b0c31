import { useState } from 'react'
import { Dialog } from '../conversations/parts/dialog.tsx'
import classes from './keys-dialog.module.css'
import type { Place } from './navigation.ts'
import { SINGLE_KEYS_OFF } from './shortcuts.ts'

const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl'

type KeysDialogProps = { places: readonly Place[]; onClose: () => void }

/**
 * The keyboard shortcuts, and a switch for those of a single key: speech input types letters by
 * accident (WCAG 2.1.4).
 */
export function KeysDialog({ places, onClose }: KeysDialogProps) {
  const [isOn, setIsOn] = useState(() => !(SINGLE_KEYS_OFF in localStorage))
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <Keys
        title="Everywhere"
        keys={[
          [[MOD, 'K'], 'Search pages, conversations and more'],
          [[MOD, 'B'], 'Collapse or expand the menu'],
          [['?'], 'Show this list'],
          ...places.map(({ label }): Shortcut => [['G', label.charAt(0)], `Go to ${label}`]),
        ]}
      />
      <Keys
        title="In a conversation"
        keys={[
          [['Enter'], 'Send'],
          [['Shift', 'Enter'], 'Start a new line'],
          [['@'], 'Choose a file or a collection'],
          [['↑'], 'Edit your last question'],
          [['Esc'], 'Stop the answer'],
        ]}
      />
      <Keys title="In the playground" keys={[[[MOD, 'Enter'], 'Send']]} />
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
        Use shortcuts without {MOD}, such as ?
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
