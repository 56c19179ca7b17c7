import { useStore } from '@nanostores/react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import type { Category } from '../../contract/categories.ts'
import { maxFileBytes } from '../../contract/kit/limits.ts'
import { isSystemFile, pathInFolder } from '../../core/files/folder-files.ts'
import { formatBytes, formatDuration } from '../../core/text/format.ts'
import {
  $categories,
  type CategoriesState,
  chooseDepositCategory,
  loadCategories,
  watchCategories
} from '../../stores/categories.ts'
import { rememberFilePath } from '../../stores/file-handoff.ts'
import { $session } from '../../stores/sessions.ts'
import { $user } from '../../stores/signed-in-user.ts'
import { DropZone } from '../files/DropZone.tsx'
import { UnreadableFiles } from '../files/UnreadableFiles.tsx'
import { useOnFilesReceived } from '../files/use-on-files-received.ts'
import { AnimatedSeal } from '../kit/AnimatedSeal.tsx'
import { useLazyComponent } from '../kit/LazyComponent.tsx'
import { describeMediaTypes } from '../kit/media-words.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import type { FilesBeyondQueueLimit } from './DepositQueue.tsx'

type ReadyCategories = Extract<CategoriesState, { status: 'ready' }>

export const Deposit = withTranslation(function Deposit() {
  const { locale, t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const categories = useStore($categories, { ssr: 'initial' })
  const session = useStore($session, { ssr: 'initial' })
  const [held, setHeld] = useState<File[]>([])
  const [turnedAway, setTurnedAway] = useState<FilesBeyondQueueLimit>()
  const [leftOut, setLeftOut] = useState(0)
  const [phone, setPhone] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const chosen = categories.status === 'ready' ? chosenOf(categories) : undefined
  // the queue is as heavy as the page itself, so it is loaded afterwards
  const queue = useLazyComponent(async () => (await import('./DepositQueue.tsx')).DepositQueue)

  useEffect(() => {
    return session.status === 'in' ? watchCategories() : undefined
  }, [session.status])

  useEffect(() => {
    // iPads call themselves Macs
    setPhone(/iPhone|iPad|iPod/.test(navigator.userAgent) || isTabletMac())
  }, [])

  const hasNone = categories.status === 'ready' && !chosen

  useEffect(() => {
    // without a category nobody can deposit, and the page states that
    if (hasNone && held.length > 0) setHeld([])
  }, [hasNone, held])

  const take = (files: File[], systemFiles = 0) => {
    setTurnedAway(undefined)
    setLeftOut(systemFiles)
    setHeld(before => [...before, ...files])
    if (queue.error) void queue.retry()
  }
  const onTaken = useCallback((left: FilesBeyondQueueLimit) => {
    setTurnedAway(left)
    setHeld([])
  }, [])
  const unreadable = useOnFilesReceived('deposit', take)

  if (user && !user.features.includes('deposit')) {
    return (
      <div className="sheet" data-state="error">
        <p>{t('deposit.notAllowed')}</p>
      </div>
    )
  }

  return (
    <div ref={root} className="grid gap-6">
      <div className="sheet grid gap-4">
        <CategoryChoice held={held.length} />
        {queue.error && held.length > 0 && (
          <Failure text={t(`errors.${queue.error.code}`)} onRetry={() => void queue.retry()} />
        )}
        {chosen && <Rules category={chosen} />}
        <DropZone
          to="deposit"
          label={t('deposit.drop.label')}
          touchLabel={t('deposit.drop.phone')}
          hint={t('deposit.drop.hint', { size: formatBytes(maxFileBytes, locale) })}
          multiple
          onFiles={files => take(files)}
        >
          <AnimatedSeal state={{ kind: 'idle' }} className="size-20" small />
        </DropZone>
        <FolderButton label={t('deposit.folder')} onFiles={take} />
        {leftOut > 0 && <p role="status">{t('deposit.leftOut', { count: leftOut })}</p>}
        {phone && <p className="text-ink-soft text-sm">{t('deposit.phone')}</p>}
        <UnreadableFiles names={unreadable} />
        {turnedAway && turnedAway.count > 0 && (
          <p role="alert" className="text-error">
            {t('deposit.turnedAway', { ...turnedAway })}
          </p>
        )}
      </div>
      {queue.Component ? (
        <queue.Component
          files={held}
          category={chosen}
          onTaken={onTaken}
          onAnother={() => root.current?.querySelector<HTMLElement>('input[type=file]')?.click()}
        >
          <Notes />
        </queue.Component>
      ) : (
        <Notes />
      )}
    </div>
  )
})

function CategoryChoice({ held }: { held: number }) {
  const { locale, t } = useTranslation()
  const state = useStore($categories, { ssr: 'initial' })
  const waiting = held > 0 && <p role="status">{t('deposit.categories.held', { count: held })}</p>
  if (state.status === 'failed') {
    return (
      <Failure text={t('deposit.categories.failed')} onRetry={() => void loadCategories()}>
        {waiting}
      </Failure>
    )
  }
  if (state.status !== 'ready') return waiting || null
  if (state.categories.length === 0) return <p role="alert">{t('deposit.categories.none')}</p>
  if (state.categories.length === 1) return null
  return (
    <label className="grid gap-1">
      <span className="label-text">{t('deposit.category')}</span>
      <select
        className="select w-full"
        value={state.chosen}
        onChange={event => chooseDepositCategory(event.currentTarget.value)}
      >
        {state.categories.map(({ id, names }) => (
          <option key={id} value={id}>
            {names[locale]}
          </option>
        ))}
      </select>
    </label>
  )
}

interface FailureProps {
  text: string
  onRetry: () => void
  children?: ReactNode
}

function Failure({ text, onRetry, children }: FailureProps) {
  const { t } = useTranslation()
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3">
      <p className="text-error">{text}</p>
      <button type="button" className="btn btn-sm" onClick={onRetry}>
        {t('deposit.action.retry')}
      </button>
      {children}
    </div>
  )
}

function chosenOf({ categories, chosen }: ReadyCategories): Category | undefined {
  return categories.find(({ id }) => id === chosen)
}

function Rules({ category }: { category: Category }) {
  const { locale, t } = useTranslation()
  const { store, media_types } = category
  const retention = store === 'file' ? category.retention : null
  if (store === 'file' && !media_types && !retention) return null
  return (
    <div className="text-ink-soft text-sm">
      {store === 'fingerprint' && <p>{t('deposit.rules.fingerprint')}</p>}
      {retention && (
        <p>{t('deposit.rules.retention', { time: formatDuration(retention, locale) })}</p>
      )}
      {media_types && (
        <p>{t('deposit.rules.types', { types: describeMediaTypes(media_types, locale, t) })}</p>
      )}
    </div>
  )
}

function Notes() {
  const { t } = useTranslation()
  return (
    <section className="grid gap-4" aria-label={t('deposit.notes.title')}>
      <ul className="grid gap-4 md:grid-cols-3">
        {(['stored', 'fingerprint', 'found'] as const).map(note => (
          <li key={note} className="grid content-start gap-1 border-base-300 border-t pt-3">
            <h2 className="font-semibold">{t(`deposit.notes.${note}.title`)}</h2>
            <p className="text-ink-soft text-sm">{t(`deposit.notes.${note}.text`)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function isTabletMac(): boolean {
  return navigator.userAgent.includes('Macintosh') && navigator.maxTouchPoints > 1
}

interface FolderButtonProps {
  label: string
  onFiles: (files: File[], leftOut: number) => void
}

function FolderButton({ label, onFiles }: FolderButtonProps) {
  return (
    <label className="btn btn-sm justify-self-start max-sm:hidden has-focus-visible:outline-2 has-focus-visible:outline-offset-2">
      {label}
      <input
        type="file"
        className="sr-only"
        multiple
        // spread, because React's types do not know it
        {...{ webkitdirectory: '' }}
        onChange={event => {
          const all = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ''
          const files = all.filter(file => !isSystemFile(file.webkitRelativePath))
          for (const file of files) rememberFilePath(file, pathInFolder(file.webkitRelativePath))
          if (all.length > 0) onFiles(files, all.length - files.length)
        }}
      />
    </label>
  )
}
