import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import type { Session } from '../../contract/sessions.ts'
import { formatDateTime } from '../../core/text/format.ts'
import { localizedPath } from '../../i18n/index.ts'
import { $sessionList, endSession, loadSessions } from '../../stores/accounts/session-list.ts'
import { signOutEverywhere } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { LoadStatus } from '../kit/LoadStatus.tsx'
import { Section } from '../kit/Section.tsx'
import { relativeTime, useNow } from '../kit/time.ts'
import { useAction } from '../kit/use-action.ts'
import { useRestoreFocus } from '../kit/use-restore-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'

export function SessionList() {
  const { t } = useTranslation()
  const list = useStore($sessionList, { ssr: 'initial' })
  const title = useRef<HTMLHeadingElement>(null)

  useEffect(() => void loadSessions(), [])

  const ending = useAction({
    what: 'Ending the session failed',
    async send(id: string) {
      await endSession(id)
      // the pressed button no longer exists
      title.current?.focus()
    }
  })

  return (
    <Section id="sessions" ref={title} title={t('me.sessions.title')} state={list.status}>
      <LoadStatus state={list} retry={() => loadSessions()} />
      {list.status === 'ready' && (
        <ul className="flex flex-col divide-y divide-base-300">
          {list.rows.map(session => (
            <Row
              key={session.id}
              session={session}
              isWorking={ending.isWorking}
              end={ending.start}
            />
          ))}
        </ul>
      )}
      <p role="status" className="text-sm empty:hidden">
        {ending.isDone && t('me.sessions.ended')}
      </p>
      {ending.failure && <ErrorNote error={ending.failure} />}
      <SignOutEverywhere />
    </Section>
  )
}

interface RowProps {
  session: Session
  isWorking: boolean
  end: (id: string) => Promise<void>
}

function Row({ session, isWorking, end }: RowProps) {
  const { locale, t } = useTranslation()
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
          aria-disabled={isWorking}
          onClick={() => void end(session.id)}
        >
          {t('me.sessions.end')}
        </button>
      )}
    </li>
  )
}

function SignOutEverywhere() {
  const { locale, t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const confirm = useRef<HTMLButtonElement>(null)
  const action = useAction({
    what: 'Signing out everywhere failed',
    async send() {
      await signOutEverywhere()
      // loads a new document, so that no data of the person stays in memory
      location.assign(localizedPath(locale, '/'))
      await new Promise(() => {})
    },
    handle() {
      setAsking(false)
      return false
    }
  })
  const opener = useRestoreFocus(isAsking)

  useEffect(() => {
    if (isAsking) confirm.current?.focus()
  }, [isAsking])

  if (!isAsking) {
    return (
      <>
        {action.failure && <ErrorNote error={action.failure} />}
        <button
          ref={opener}
          type="button"
          className="btn btn-outline self-start"
          onClick={() => {
            action.reset()
            setAsking(true)
          }}
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
          aria-disabled={action.isWorking}
          onClick={() => void action.start(undefined)}
        >
          {t('me.sessions.confirm')}
        </button>
        <button type="button" className="btn btn-ghost" onClick={() => setAsking(false)}>
          {t('me.sessions.stay')}
        </button>
      </div>
    </fieldset>
  )
}
