import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { t } from '../language/text.ts'
import classes from './drop-area.module.css'

type DropAreaProps = {
  onDrop: (files: File[]) => void
  /** The collection that dropped files join. */
  target: string | undefined
  children: ReactNode
}

/** Takes files and folders anywhere on the page. */
export function DropArea({ onDrop, target, children }: DropAreaProps) {
  const [isOver, setIsOver] = useState(false)
  // Entering a child leaves its parent, so entries and exits are counted.
  const depth = useRef(0)
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')
  const count = (change: number) => {
    depth.current = Math.max(0, depth.current + change)
    setIsOver(depth.current > 0)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button Upload does the same.
    <div
      className={classes.area}
      onDragEnter={(event) => hasFiles(event) && count(1)}
      onDragLeave={(event) => hasFiles(event) && count(-1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        count(-depth.current)
        void readDropped(event.dataTransfer).then(onDrop)
      }}
    >
      {children}
      {isOver && (
        <div className={classes.hint}>
          {target === undefined
            ? t('Drop files to upload them')
            : t('Drop files to add them to {0}', target)}
        </div>
      )}
    </div>
  )
}

/** Returns dropped files, and those inside dropped folders. */
async function readDropped({ items, files }: DataTransfer): Promise<File[]> {
  // Entries are gone after the event, so all are read first.
  const entries = [...items].map((item) => item.webkitGetAsEntry())
  const found = [...files]
  if (entries.every((entry) => entry === null || entry.isFile)) return found
  return (await Promise.all(entries.map(readEntry))).flat()
}

async function readEntry(entry: FileSystemEntry | null): Promise<File[]> {
  if (entry === null || entry.name.startsWith('.')) return []
  if (entry.isFile) {
    return [
      await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      ),
    ]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const files: File[] = []
  // A reader returns at most 100 entries at a time, and none at the end.
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (entries.length === 0) return files
    files.push(...(await Promise.all(entries.map(readEntry))).flat())
  }
}
