import { IconFileText, IconX } from '@tabler/icons-react'
import { t } from '../../language/text.ts'
import type { Attachments } from './attachments.ts'
import classes from './composer.module.css'

const STATES = {
  sending: t('Uploading…'),
  reading: t('Reading…'),
  ready: null,
  failed: null,
} as const

/** The pictures and files of the next message. */
export function AttachmentRow({ attachments }: { attachments: Attachments }) {
  if (attachments.list.length === 0 && attachments.problem === null) return null
  return (
    <>
      <ul className={classes.attachments} aria-label={t('Attachments')}>
        {attachments.list.map((one) => (
          <li key={one.id} className={classes.attachment} data-kind={one.kind}>
            {one.kind === 'image' ? (
              <img src={`data:${one.mediaType};base64,${one.data}`} alt={one.name} />
            ) : (
              <>
                <IconFileText size={18} aria-hidden />
                <span className={classes.file}>
                  <span>{one.name}</span>
                  <span role="status" data-failed={one.state === 'failed' || undefined}>
                    {one.problem ?? STATES[one.state]}
                  </span>
                </span>
              </>
            )}
            <button
              type="button"
              className={classes.remove}
              aria-label={t('Remove {0}', one.name)}
              onClick={() => attachments.remove(one.id)}
            >
              <IconX size={14} aria-hidden />
            </button>
          </li>
        ))}
      </ul>
      {attachments.problem && (
        <p className={classes.problem} role="alert">
          {attachments.problem}
        </p>
      )}
    </>
  )
}
