import { IconArrowUp, IconPlayerStopFilled, IconPlus, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type DragEvent, type FormEvent, useEffect, useRef, useState } from 'react'
import { createBrowserList } from '../../components/browser-list.ts'
import { t } from '../../language/text.ts'
import { viewToken } from '../../session/token-store.ts'
import { useUser } from '../../session/user.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { chatModelsQuery } from '../queries.ts'
import type { Ask } from '../thread.ts'
import { AttachmentRow } from './attachment-row.tsx'
import { type Attachments, buildParts, useAttachments } from './attachments.ts'
import classes from './composer.module.css'
import { DocumentsControl } from './documents-control.tsx'
import { MessageField } from './message-field.tsx'
import { ModelPicker } from './model-picker.tsx'
import { addToScope, countChosen, isInScope, type Scope, toggleInScope } from './scope.ts'
import { useScopeOptions } from './scope-options.ts'

export type ComposerOptions = { model: string | undefined; scope: Scope }

type ComposerProps = {
  /** The conversation’s id, or `new`; null: the draft is not kept. */
  draftId: string | null
  options: ComposerOptions
  onOptions: (change: Partial<ComposerOptions>) => void
  isWriting: boolean
  placeholder?: string
  onSend: (ask: Ask) => void
  onStop: () => void
  onUp: () => void
}

export function Composer(props: ComposerProps) {
  if (viewToken.read() !== null)
    return <p className={classes.closed}>{t('A view of an account can’t ask questions.')}</p>
  return <OpenComposer {...props} />
}

function OpenComposer({
  draftId,
  options: { model, scope },
  onOptions,
  isWriting,
  placeholder = t('Ask anything'),
  onSend,
  onStop,
  onUp,
}: ComposerProps) {
  const user = useUser()
  const [text, setText] = useState(() => (draftId === null ? '' : readDraft(user.id, draftId)))
  const attachments = useAttachments()
  const [isOver, setIsOver] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const files = useRef<HTMLInputElement>(null)
  useFocusOnArrival(field)

  const change = (next: string) => {
    setText(next)
    if (draftId !== null) saveDraft(user.id, draftId, next)
  }
  const parts = buildParts(attachments.list)
  const canSend = !isWriting && !attachments.isBusy && (text.trim() !== '' || parts.length > 0)
  const send = (event?: FormEvent) => {
    event?.preventDefault()
    if (!canSend) return
    const attached = parts.flatMap((part) => (part.type === 'document' ? part.document_id : []))
    const chosen = Array.isArray(scope.documents) ? scope.documents : []
    onSend({
      parts: [...parts, ...(text.trim() ? [{ type: 'text' as const, text: text.trim() }] : [])],
      model,
      documents: attached.length > 0 ? [...new Set([...chosen, ...attached])] : scope.documents,
      collections: scope.collections,
    })
    change('')
    attachments.clear()
    field.current?.focus({ preventScroll: true })
  }
  const stop = () => {
    // The disabled Send button replaces Stop and cannot hold the focus.
    field.current?.focus({ preventScroll: true })
    onStop()
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    attachments.add([...event.dataTransfer.files])
  }

  return (
    <form
      className={classes.box}
      data-over={isOver || undefined}
      onSubmit={send}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <AttachmentRow attachments={attachments} />
      <ScopeChips scope={scope} onChange={(next) => onOptions({ scope: next })} />
      <VisionNote attachments={attachments} model={model} />
      <MessageField
        field={field}
        text={text}
        placeholder={placeholder}
        isWriting={isWriting}
        onChange={change}
        onSend={send}
        onStop={stop}
        onUp={onUp}
        onMention={(value) => onOptions({ scope: addToScope(scope, value) })}
        onFiles={attachments.add}
      />
      <div className={classes.tools}>
        <IconButton
          label={t('Add files or pictures')}
          data-tip-align="start"
          onClick={() => files.current?.click()}
        >
          <IconPlus size={20} stroke={1.8} aria-hidden />
        </IconButton>
        <input
          ref={files}
          type="file"
          multiple
          hidden
          aria-label={t('Files or pictures')}
          onChange={(event) => {
            attachments.add([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        <DocumentsControl scope={scope} onChange={(next) => onOptions({ scope: next })} />
        <ModelPicker model={model} onChange={(next) => onOptions({ model: next })} />
        {isWriting ? (
          <button type="button" className={classes.send} onClick={stop} aria-label={t('Stop')}>
            <IconPlayerStopFilled size={16} aria-hidden />
          </button>
        ) : (
          <button type="submit" className={classes.send} disabled={!canSend} aria-label={t('Send')}>
            <IconArrowUp size={20} stroke={2.2} aria-hidden />
          </button>
        )}
      </div>
    </form>
  )
}

/** Warns before a picture goes to a model that cannot see it. */
function VisionNote({
  attachments,
  model,
}: {
  attachments: Attachments
  model: string | undefined
}) {
  const { data } = useQuery(chatModelsQuery)
  const hasPictures = attachments.list.some(({ kind }) => kind === 'image')
  const chosen = data?.models.find(({ name }) => name === (model ?? data.default_model))
  if (!hasPictures || chosen === undefined || chosen.vision) return null
  return (
    <p className={classes.problem} role="alert">
      {t('{0} can’t read pictures. Choose a model with the picture sign.', chosen.name)}
    </p>
  )
}

/** The chosen documents and collections, each with a button that removes it. */
function ScopeChips({ scope, onChange }: { scope: Scope; onChange: (scope: Scope) => void }) {
  const options = useScopeOptions(countChosen(scope) > 0)
  const chosen = options.filter(({ value }) => isInScope(scope, value))
  if (chosen.length === 0) return null
  return (
    <ul className={classes.chips} aria-label={t('Searched documents')}>
      {chosen.map(({ value, label }) => (
        <li key={value} className={classes.chip}>
          <span dir="auto">{label}</span>
          <button
            type="button"
            aria-label={t('Remove {0}', label)}
            onClick={() => onChange(toggleInScope(scope, value))}
          >
            <IconX size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Not below a dialog, and not on phones, where the keyboard would cover the page. */
function useFocusOnArrival(field: React.RefObject<HTMLTextAreaElement | null>) {
  useEffect(() => {
    if (
      !matchMedia('(hover: hover)').matches ||
      document.querySelector('dialog[open], [role=dialog][data-modal]')
    )
      return
    // The layout moves the focus to the page's content first.
    const frame = requestAnimationFrame(() => field.current?.focus({ preventScroll: true }))
    return () => cancelAnimationFrame(frame)
  }, [field])
}

type Draft = { id: string; text: string }

/** Unsent texts by conversation; `new` is the next conversation’s. Deleted at sign-out. */
const drafts = createBrowserList<Draft>('drafts', 40)

function readDraft(userId: string, id: string): string {
  return drafts.read(userId).find((draft) => draft.id === id)?.text ?? ''
}

function saveDraft(userId: string, id: string, text: string): void {
  drafts.update(userId, (stored) => {
    const others = stored.filter((draft) => draft.id !== id)
    return text === '' ? others : [{ id, text }, ...others]
  })
}
