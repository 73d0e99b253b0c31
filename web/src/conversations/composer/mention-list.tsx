import { t } from '../../language/text.ts'
import listClasses from '../parts/pick-list.module.css'
import { type PickOption, PickRow } from '../parts/pick-list.tsx'
import classes from './composer.module.css'

type MentionListProps = {
  id: string
  found: PickOption[]
  active: PickOption | undefined
  onPick: (option: PickOption) => void
}

/** Documents and collections that match `@`. The message field keeps the focus. */
export function MentionList({ id, found, active, onPick }: MentionListProps) {
  return (
    <div className={classes.mentions}>
      {found.length === 0 ? (
        <p className={listClasses.empty}>{t('No document or collection with this name')}</p>
      ) : (
        <div
          id={id}
          role="listbox"
          aria-label={t('Documents and collections')}
          className={listClasses.list}
        >
          {found.map((option) => (
            <PickRow
              key={option.value}
              id={`${id}-${option.value}`}
              option={option}
              isActive={option === active}
              isChosen={false}
              onPick={() => onPick(option)}
            />
          ))}
        </div>
      )}
    </div>
  )
}
