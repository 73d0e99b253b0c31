import { IconFiles, IconFilesOff } from '@tabler/icons-react'
import { plural } from '../../components/format.ts'
import { Popover } from '../../components/popover.tsx'
import { t } from '../../language/text.ts'
import { PickList } from '../parts/pick-list.tsx'
import classes from './composer.module.css'
import { AUTO, countChosen, isInScope, type Scope, toggleInScope } from './scope.ts'
import { useScopeOptions } from './scope-options.ts'

type DocumentsControlProps = { scope: Scope; onChange: (scope: Scope) => void }

/** Chooses what questions search: automatic, nothing, or these documents and collections. */
export function DocumentsControl({ scope, onChange }: DocumentsControlProps) {
  const isOff = scope.documents === 'off'
  const chosen = countChosen(scope)
  const state = isOff ? t('Off') : chosen > 0 ? String(chosen) : t('Auto')
  return (
    <Popover
      label={t('Documents')}
      button={(target) => (
        <button
          type="button"
          {...target}
          className={classes.pill}
          aria-label={t('Documents: {0}', chosen > 0 ? plural(chosen, 'chosen', 'chosen') : state)}
        >
          {isOff ? <IconFilesOff size={17} aria-hidden /> : <IconFiles size={17} aria-hidden />}
          <span className={classes.pillName}>{t('Documents')}</span> {state}
        </button>
      )}
    >
      {() => <Choice scope={scope} onChange={onChange} />}
    </Popover>
  )
}

function Choice({ scope, onChange }: DocumentsControlProps) {
  const options = useScopeOptions(true)
  const chosen = countChosen(scope)
  const kind = scope.documents === 'off' ? 'off' : chosen > 0 ? 'these' : 'auto'
  return (
    <>
      <fieldset className={classes.modes}>
        <legend>{t('Documents')}</legend>
        <Mode
          name={t('Auto')}
          note={t('The model searches when a question needs it')}
          isOn={kind === 'auto'}
          onPick={() => onChange(AUTO)}
        />
        <Mode
          name={t('Off')}
          note={t('Answers without your documents')}
          isOn={kind === 'off'}
          onPick={() => onChange({ documents: 'off', collections: [] })}
        />
      </fieldset>
      <PickList
        label={t('Choose documents')}
        placeholder={t('Only these…')}
        options={options}
        isChosen={(value) => isInScope(scope, value)}
        onPick={(value) => onChange(toggleInScope(scope, value))}
        multiple
        empty={t('You have no documents yet. Add one with +.')}
      />
    </>
  )
}

type ModeProps = { name: string; note: string; isOn: boolean; onPick: () => void }

function Mode({ name, note, isOn, onPick }: ModeProps) {
  return (
    <label className={classes.mode}>
      <input type="radio" name="documents" checked={isOn} onChange={onPick} />
      <span>
        <span>{name}</span>
        <span>{note}</span>
      </span>
    </label>
  )
}
