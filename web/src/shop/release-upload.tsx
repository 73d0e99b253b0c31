import { Button, Progress, Textarea, TextInput } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type DragEvent, type FormEvent, useEffect, useRef, useState } from 'react'
import { FormProblem } from '../components/form-problem.tsx'
import { formatBytes } from '../components/format.ts'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { uploadRelease } from './release-file.ts'
import { suggestVersion } from './release-version.ts'
import classes from './releases.module.css'
import { reloadReleases } from './releases-query.ts'

/** Takes a ZIP, dropped or chosen. The upload begins when its version is confirmed. */
export function ReleaseUpload({ tier }: { tier: string }) {
  const [file, setFile] = useState<File | null>(null)
  const [isOver, setIsOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    setFile(event.dataTransfer.files[0] ?? null)
  }
  if (file) return <UploadForm tier={tier} file={file} onClose={() => setFile(null)} />
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same.
    <div
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
    >
      <span>{t('Drop a ZIP with the files of a new version here.')}</span>
      <Button
        variant="default"
        leftSection={<IconUpload size={18} aria-hidden />}
        onClick={() => picker.current?.click()}
      >
        {t('Choose ZIP')}
      </Button>
      <input
        ref={picker}
        type="file"
        accept=".zip,application/zip"
        hidden
        aria-label={t('ZIP of the release')}
        onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
      />
    </div>
  )
}

type UploadFormProps = { tier: string; file: File; onClose: () => void }

function UploadForm({ tier, file, onClose }: UploadFormProps) {
  const [version, setVersion] = useState(suggestVersion(file.name))
  const [notes, setNotes] = useState('')
  const [sent, setSent] = useState(0)
  const stop = useRef(new AbortController())
  // Leaving the page ends the upload.
  useEffect(() => {
    const controller = new AbortController()
    stop.current = controller
    return () => controller.abort()
  }, [])
  const upload = useMutation({
    mutationFn: () => {
      const { signal } = stop.current
      return uploadRelease({ tier, version, notes, file, onProgress: setSent, signal })
    },
    onSettled: () => reloadReleases(tier),
    onSuccess: () => {
      showToast(t('Draft of {0} uploaded', version))
      onClose()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setSent(0)
    upload.mutate()
  }
  return (
    <form onSubmit={submit} aria-label={t('New release')} className={classes.upload}>
      <p>
        <b>{file.name}</b> {formatBytes(file.size)}
      </p>
      <TextInput
        label={t('Version')}
        placeholder="1.0.0"
        maxLength={64}
        required
        withAsterisk={false}
        value={version}
        onChange={(event) => setVersion(event.currentTarget.value)}
      />
      <Textarea
        label={t('What is new')}
        description={t('Markdown, for the changelog')}
        autosize
        minRows={3}
        maxLength={50_000}
        value={notes}
        onChange={(event) => setNotes(event.currentTarget.value)}
      />
      {upload.isPending && (
        <div role="status">
          <Progress
            value={sent * 100}
            animated={sent === 1}
            aria-label={t('{0}, sent', file.name)}
          />
          <span className={classes.state}>
            {sent < 1 ? t('{0} % sent', Math.round(sent * 100)) : t('Checking the files…')}
          </span>
        </div>
      )}
      <FormProblem problem={upload.error} />
      <div className={classes.buttons}>
        <Button type="submit" loading={upload.isPending}>
          {t('Upload draft')}
        </Button>
        <Button variant="default" onClick={onClose}>
          {t('Cancel')}
        </Button>
      </div>
    </form>
  )
}
