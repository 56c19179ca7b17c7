import { useStore } from '@nanostores/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Category } from '../contract/categories.ts'
import { maxFileBytes } from '../contract/deposits.ts'
import { formatBytes, formatPercent } from '../core/format.ts'
import { type Locale, languageTag, type T, translator, type Words } from '../i18n/index.ts'
import {
  $categories,
  type Categories,
  chooseCategory,
  loadCategories
} from '../stores/categories.ts'
import { maxQueued } from '../stores/deposit-queue.ts'
import { $depositSummary, $deposits, addFiles, restoreDeposits } from '../stores/deposits.ts'
import { $session } from '../stores/sessions.ts'
import { $user } from '../stores/users.ts'
import { DepositList, sentence } from './parts/DepositList.tsx'
import { DropZone } from './parts/DropZone.tsx'
import { Seal } from './parts/Seal.tsx'
import { Unreadable } from './parts/Unreadable.tsx'
import { useOffer } from './parts/use-offer.ts'

type ReadyCategories = Extract<Categories, { status: 'ready' }>

interface DepositProps {
  locale: Locale
  words: Words
}

export function Deposit({ locale, words }: DepositProps) {
  const t = useMemo(() => translator(locale, words), [locale, words])
  const user = useStore($user, { ssr: 'initial' })
  const categories = useStore($categories, { ssr: 'initial' })
  const deposits = useStore($deposits, { ssr: 'initial' })
  const session = useStore($session, { ssr: 'initial' })
  const [held, setHeld] = useState<File[]>([])
  const [turnedAway, setTurnedAway] = useState(0)
  const [phone, setPhone] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const chosen = categories.status === 'ready' ? chosenOf(categories) : undefined

  useEffect(() => {
    if (session.status !== 'in') return
    void loadCategories()
    void restoreDeposits()
  }, [session.status])

  useEffect(() => {
    // iPads call themselves Macs
    setPhone(/iPhone|iPad|iPod/.test(navigator.userAgent) || isTabletMac())
  }, [])

  const hasNone = categories.status === 'ready' && !chosen

  useEffect(() => {
    if (held.length === 0 || (!chosen && !hasNone)) return
    // without any category there is nothing to wait for, and the page says so
    if (chosen) setTurnedAway(addFiles(held, chosen))
    setHeld([])
  }, [chosen, held, hasNone])

  const take = (files: File[]) => {
    setTurnedAway(0)
    if (chosen) setTurnedAway(addFiles(files, chosen))
    else setHeld(before => [...before, ...files])
  }
  const unreadable = useOffer('deposit', take)

  if (user && !user.features.includes('deposit')) {
    return (
      <div className="sheet" data-state="error">
        <p>{t('deposit.notAllowed')}</p>
      </div>
    )
  }

  return (
    <div ref={root} className="grid gap-6" data-state={deposits.length === 0 ? 'empty' : 'ready'}>
      <div className="sheet grid gap-4">
        <CategoryChoice t={t} locale={locale} held={held.length} />
        {chosen && <Rules t={t} locale={locale} category={chosen} />}
        <DropZone
          label={t('deposit.drop.label')}
          hint={t('deposit.drop.hint', { size: formatBytes(maxFileBytes, locale) })}
          multiple
          onFiles={take}
        >
          <Seal state={{ kind: 'idle' }} className="size-20" small />
        </DropZone>
        {phone && <p className="text-ink-soft text-sm">{t('deposit.phone')}</p>}
        <Unreadable names={unreadable} locale={locale} t={t} />
        {turnedAway > 0 && (
          <p role="alert" className="text-error">
            {t('deposit.turnedAway', { count: turnedAway, limit: maxQueued })}
          </p>
        )}
      </div>
      {deposits.length === 0 ? (
        <Notes t={t} />
      ) : (
        <DepositList
          t={t}
          locale={locale}
          deposits={deposits}
          onAnother={() => root.current?.querySelector<HTMLElement>('input[type=file]')?.click()}
        />
      )}
      <Announcements t={t} locale={locale} />
    </div>
  )
}

/** Hidden where there is nothing to choose from. */
function CategoryChoice({ t, locale, held }: { t: T; locale: Locale; held: number }) {
  const state = useStore($categories, { ssr: 'initial' })
  const waiting = held > 0 && <p role="status">{t('deposit.categories.held', { count: held })}</p>
  if (state.status === 'failed') {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-3">
        <p className="text-error">{t('deposit.categories.failed')}</p>
        <button type="button" className="btn btn-sm" onClick={() => void loadCategories()}>
          {t('deposit.action.retry')}
        </button>
        {waiting}
      </div>
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
        onChange={event => chooseCategory(event.currentTarget.value)}
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

function chosenOf({ categories, chosen }: ReadyCategories): Category | undefined {
  return categories.find(({ id }) => id === chosen)
}

/** What the category asks of its documents, said before one is chosen. */
function Rules({ t, locale, category }: { t: T; locale: Locale; category: Category }) {
  const { store, media_types } = category
  if (store === 'file' && !media_types) return null
  const types = new Intl.ListFormat(languageTag(locale)).format(media_types ?? [])
  return (
    <div className="text-ink-soft text-sm">
      {store === 'fingerprint' && <p>{t('deposit.rules.fingerprint')}</p>}
      {media_types && <p>{t('deposit.rules.types', { types })}</p>}
    </div>
  )
}

function Notes({ t }: { t: T }) {
  return (
    <section className="grid gap-4" aria-label={t('deposit.notes.title')}>
      <ul className="grid gap-4 md:grid-cols-3">
        {['stored', 'fingerprint', 'found'].map(note => (
          <li key={note} className="grid content-start gap-1 border-base-300 border-t pt-3">
            <h2 className="font-semibold">{t(`deposit.notes.${note}.title`)}</h2>
            <p className="text-ink-soft text-sm">{t(`deposit.notes.${note}.text`)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Speaks at each quarter and at the end, and shows the percentage where the window's title is seen. */
function Announcements({ t, locale }: { t: T; locale: Locale }) {
  const summary = useStore($depositSummary, { ssr: 'initial' })
  const quarter = Math.floor(summary.percent / 25) * 25
  const running = summary.active > 0
  const percent = formatPercent(summary.percent / 100, locale)

  useEffect(() => {
    if (!running) return
    const { title } = document
    const shown = t('deposit.windowTitle', { percent, title })
    document.title = shown
    return () => {
      // after a navigation the title is another page's
      if (document.title === shown) document.title = title
    }
  }, [running, percent, t])

  return (
    <p role="status" className="sr-only">
      {running &&
        quarter > 0 &&
        t('deposit.announce', { percent: formatPercent(quarter / 100, locale) })}
      {!running && summary.total > 0 && sentence(summary, t, locale)}
    </p>
  )
}

function isTabletMac(): boolean {
  return navigator.userAgent.includes('Macintosh') && navigator.maxTouchPoints > 1
}
