import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import type { Session } from '../../contract/sessions.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import { $sessionList, endSession, loadSessions } from '../../stores/accounts/session-list.ts'
import { signOutEverywhere } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { relativeTime, useNow } from '../kit/time.ts'
import { useFocusBack } from '../kit/use-focus-back.ts'
import { useWords } from '../kit/use-words.ts'

/** Lists the browsers in which the person is signed in. Buttons end one session or all of them. */
export function SessionList() {
  const { t } = useWords()
  const list = useStore($sessionList, { ssr: 'initial' })
  const [note, setNote] = useState<'ended' | AppError>()
  const title = useRef<HTMLHeadingElement>(null)

  useEffect(() => void loadSessions(), [])

  const end = async (id: string) => {
    setNote(undefined)
    try {
      await endSession(id)
      setNote('ended')
      // the pressed button no longer exists
      title.current?.focus()
    } catch (cause) {
      setNote(asAppError(cause, 'Ending the session failed'))
    }
  }

  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="sessions"
      data-state={list.status}
    >
      <h2 id="sessions" ref={title} tabIndex={-1} className="section-title">
        {t('me.sessions.title')}
      </h2>
      {list.status === 'loading' && (
        <p role="status" className="text-ink-soft">
          {t('common.loading')}
        </p>
      )}
      {list.status === 'failed' && <ErrorNote error={list.error} retry={() => loadSessions()} />}
      {list.status === 'ready' && (
        <ul className="flex flex-col divide-y divide-base-300">
          {list.rows.map(session => (
            <Row key={session.id} session={session} end={end} />
          ))}
        </ul>
      )}
      <p role="status" className="text-sm empty:hidden">
        {note === 'ended' ? t('me.sessions.ended') : ''}
      </p>
      {typeof note === 'object' && <ErrorNote error={note} />}
      <SignOutEverywhere />
    </section>
  )
}

interface RowProps {
  session: Session
  end: (id: string) => Promise<void>
}

function Row({ session, end }: RowProps) {
  const { locale, t } = useWords()
  const now = useNow(60_000)
  const browser = session.agent === 'Other' ? t('me.sessions.other') : session.agent
  const since = formatDateTime(new Date(session.created_at), locale)
  const seen = new Date(session.last_seen_at)
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-3">
      <div className="min-w-0 flex-1">
        <p className="font-medium">
          {browser}
          {session.current && (
            <span className="badge badge-outline ms-2">{t('me.sessions.current')}</span>
          )}
        </p>
        <p className="meta">{t('me.sessions.since', { time: since })}</p>
        {!session.current && now !== undefined && (
          <p className="meta">{t('me.sessions.seen', { time: relativeTime(seen, now, locale) })}</p>
        )}
      </div>
      {!session.current && (
        <button
          type="button"
          className="btn btn-outline btn-sm"
          aria-label={t('me.sessions.endNamed', { browser, time: since })}
          onClick={() => void end(session.id)}
        >
          {t('me.sessions.end')}
        </button>
      )}
    </li>
  )
}

/** Button that signs out everywhere. Asks for confirmation, because this cannot be undone. */
function SignOutEverywhere() {
  const { locale, t } = useWords()
  const [state, setState] = useState<'idle' | 'asking' | 'working' | AppError>('idle')
  const confirm = useRef<HTMLButtonElement>(null)
  const isOpen = state === 'asking' || state === 'working'
  const opener = useFocusBack(isOpen)

  useEffect(() => {
    if (isOpen) confirm.current?.focus()
  }, [isOpen])

  const go = async () => {
    if (state === 'working') return
    setState('working')
    try {
      await signOutEverywhere()
      // loads a new document, so that no data of the person stays in memory
      location.assign(localizedPath(locale, '/'))
    } catch (cause) {
      setState(asAppError(cause, 'Signing out everywhere failed'))
    }
  }

  if (!isOpen) {
    return (
      <>
        {typeof state === 'object' && <ErrorNote error={state} />}
        <button
          ref={opener}
          type="button"
          className="btn btn-outline self-start"
          onClick={() => setState('asking')}
        >
          {t('me.sessions.everywhere')}
        </button>
      </>
    )
  }
  return (
    <fieldset className="alert alert-warning alert-outline flex flex-col items-start gap-3">
      <legend className="sr-only">{t('me.sessions.everywhere')}</legend>
      <p>{t('me.sessions.question')}</p>
      <div className="flex flex-wrap gap-4">
        <button
          ref={confirm}
          type="button"
          className="btn btn-outline"
          aria-disabled={state === 'working'}
          onClick={() => void go()}
        >
          {t('me.sessions.confirm')}
        </button>
        <button type="button" className="btn btn-ghost" onClick={() => setState('idle')}>
          {t('me.sessions.stay')}
        </button>
      </div>
    </fieldset>
  )
}
