import { t } from '../../language/text.ts'
import type { Entry } from './entry.ts'
import classes from './palette.module.css'

type PaletteListProps = {
  entries: readonly Entry[]
  active: Entry | undefined
  onChoose: (entry: Entry) => void
}

/** The entries by group, in the order in which each group first occurs. */
export function PaletteList({ entries, active, onChoose }: PaletteListProps) {
  const groups = [...new Set(entries.map(({ group }) => group))]
  return (
    <div id="palette-list" role="listbox" aria-label={t('Results')} className={classes.list}>
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox.
        <div key={group} role="group" aria-label={group}>
          <div className={classes.group} aria-hidden>
            {group}
          </div>
          {entries
            .filter((entry) => entry.group === group)
            .map((entry) => (
              <Row key={entry.id} entry={entry} isActive={entry === active} onChoose={onChoose} />
            ))}
        </div>
      ))}
    </div>
  )
}

type RowProps = { entry: Entry; isActive: boolean; onChoose: (entry: Entry) => void }

function Row({ entry, isActive, onChoose }: RowProps) {
  const { id, label, detail, icon: Glyph } = entry
  return (
    // The field handles the keys of its options.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
    <div
      id={`palette-${id}`}
      ref={isActive ? scrollIntoView : undefined}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      className={classes.row}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onChoose(entry)}
    >
      <Glyph size={18} stroke={1.6} aria-hidden />
      <span className={classes.words}>
        <span dir="auto">{label}</span>
        {detail && <small dir="auto">{detail}</small>}
      </span>
    </div>
  )
}

function scrollIntoView(row: HTMLElement | null): void {
  row?.scrollIntoView({ block: 'nearest' })
}
